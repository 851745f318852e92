from biasledger.measures.equal_sizes.prices import price_sizes
from biasledger.model_inputs.models import rows_of_states
from biasledger.model_inputs.prices import read_price_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state", meta={"states": "int_run_pairs"})
    relations = dbt.ref("int_run_pairs"), dbt.ref("int_prices_comparable_units")
    return rows_of_states(dbt, session, price_sizes, read_price_pairs, *relations)
