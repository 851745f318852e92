from biasledger.measures.gaps.gap import bounded_gaps
from biasledger.model_inputs.gaps import read_gap_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_decisions_comparisons").filter("comparison = 'against_reference'"),
        dbt.ref("int_decisions_members"),
    )
    return rows_of_runs(dbt, session, bounded_gaps, read_gap_comparisons, *relations)
