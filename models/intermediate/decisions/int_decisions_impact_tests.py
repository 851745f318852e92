from biasledger.measures.decisions.impact_ratios import impact_tests
from biasledger.model_inputs.decisions import read_impact_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_decisions_comparisons").filter("comparison = 'all_groups'"),
        dbt.ref("int_decisions_members"),
    )
    return new_rows(dbt, session, impact_tests, read_impact_comparisons, *relations, by=("run_id",))
