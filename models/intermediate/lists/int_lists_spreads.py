from biasledger.measures.lists import spreads
from biasledger.model_inputs.lists import read_spread_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_lists_comparisons").filter("kind = 'groups'"),
        dbt.ref("int_lists_group_values"),
        dbt.ref("int_lists_repeated_values").filter("kind = 'rerun'"),
    )
    return new_rows(dbt, session, spreads, read_spread_comparisons, *relations, by=("run_id",))
