from biasledger.measures.gaps.gap import gaps
from biasledger.model_inputs.gaps import read_gap_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_answers_gap_comparisons").filter("n_events > 0"),
        dbt.ref("int_answers_gap_members"),
    )
    return rows_of_runs(dbt, session, gaps, read_gap_comparisons, *relations)
