from biasledger.measures.gaps.changes import gap_changes
from biasledger.model_inputs.gaps import read_gap_pairs
from biasledger.model_inputs.models import rows_of_new_keys


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_run_pairs"), dbt.ref("int_paired_units")
    return rows_of_new_keys(dbt, session, gap_changes, read_gap_pairs, *relations)
