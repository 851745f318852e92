from biasledger.measures.equal_sizes.decisions import selection_sizes
from biasledger.model_inputs.decisions import read_selection_pairs
from biasledger.model_inputs.models import rows_of_states


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state", meta={"states": "int_run_pairs"})
    relations = dbt.ref("int_run_pairs"), dbt.ref("int_decisions_comparable_units")
    return rows_of_states(dbt, session, selection_sizes, read_selection_pairs, *relations)
