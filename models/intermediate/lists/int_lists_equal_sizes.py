from biasledger.measures.equal_sizes.lists import list_sizes
from biasledger.model_inputs.lists import read_list_pairs
from biasledger.model_inputs.models import rows_of_states


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state", meta={"states": "int_run_pairs"})
    relations = dbt.ref("int_run_pairs"), dbt.ref("int_lists_comparable_cells")
    return rows_of_states(dbt, session, list_sizes, read_list_pairs, *relations)
