from biasledger.measures.gaps.gap import gaps
from biasledger.model_inputs.gaps import read_gap_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_markers_comparisons").filter("kind = 'gap'"), dbt.ref("int_markers_members")
    return new_rows(dbt, session, gaps, read_gap_comparisons, *relations, by=("run_id",))
