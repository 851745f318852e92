from biasledger.measures.equal_sizes_tables import price_sizes
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.equal_sizes import read_price_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    pairs = read_price_pairs(
        dbt.ref("int_run_pairs"),
        dbt.ref("int_prices_comparable_units"),
        done=computed_keys(dbt, session, "pair_key"),
    )
    return price_sizes(pairs)
