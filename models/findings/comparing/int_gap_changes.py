from biasledger.measures.gaps.changes import gap_changes
from biasledger.model_inputs.gaps import read_gap_pairs
from biasledger.model_inputs.models import rows_of_states


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state", meta={"states": "int_run_pairs"})
    relations = dbt.ref("int_run_pairs"), dbt.ref("int_paired_units")
    return rows_of_states(dbt, session, gap_changes, read_gap_pairs, *relations)
