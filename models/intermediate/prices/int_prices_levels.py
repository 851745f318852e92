from biasledger.measures.prices.items import levels
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.prices import read_price_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_prices_comparisons"),
        dbt.ref("int_prices_members"),
        dbt.ref("int_prices_levels_of_units"),
    )
    return new_rows(dbt, session, levels, read_price_comparisons, *relations, by=("run_id",))
