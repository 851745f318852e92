from biasledger.measures.lists import spreads
from biasledger.model_inputs.lists import read_spread_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_lists_comparisons").filter("kind = 'groups'"),
        dbt.ref("int_lists_group_values"),
        dbt.ref("int_lists_repeated_values").filter("kind = 'rerun'"),
    )
    return rows_of_runs(dbt, session, spreads, read_spread_comparisons, *relations)
