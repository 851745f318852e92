from biasledger.measures.substituted_items import substituted_items_of
from biasledger.model_inputs.lists import read_item_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_lists_comparisons").filter("kind = 'items'"),
        dbt.ref("int_lists_item_shares"),
    )
    return rows_of_runs(dbt, session, substituted_items_of, read_item_comparisons, *relations)
