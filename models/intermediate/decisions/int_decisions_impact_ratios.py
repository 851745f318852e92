from biasledger.measures.decisions.impact_ratios import impact_ratios
from biasledger.model_inputs.decisions import read_impact_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_decisions_comparisons").filter("comparison = 'all_groups'"),
        dbt.ref("int_decisions_members"),
    )
    return rows_of_runs(dbt, session, impact_ratios, read_impact_comparisons, *relations)
