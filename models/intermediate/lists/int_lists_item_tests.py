from biasledger.measures.substituted_items import substituted_items_of
from biasledger.model_inputs.lists import read_item_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_lists_comparisons").filter("kind = 'items'"), dbt.ref("int_lists_item_shares")
    return new_rows(dbt, session, substituted_items_of, read_item_comparisons, *relations, by=("run_id",))
