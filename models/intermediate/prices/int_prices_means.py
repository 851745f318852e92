from biasledger.measures.prices_tables import means
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.prices import read_price_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_price_comparisons(
        dbt.ref("int_prices_comparisons"),
        dbt.ref("int_prices_members"),
        dbt.ref("int_prices_levels_of_units"),
        done=computed_keys(dbt, session),
    )
    return means(comparisons)
