from biasledger.measures.gaps.gap import bounded_gaps
from biasledger.model_inputs.gaps import read_gap_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_decisions_comparisons").filter("comparison = 'against_reference'"),
        dbt.ref("int_decisions_members"),
    )
    return new_rows(dbt, session, bounded_gaps, read_gap_comparisons, *relations, by=("run_id",))
