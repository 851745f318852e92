"""From a ledger to a warehouse: the project folder, its settings, and one run of dbt."""
