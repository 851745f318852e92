from biasledger.measures.equal_sizes.pairs import price_sizes
from biasledger.model_inputs.equal_sizes import read_price_pairs
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_run_pairs"), dbt.ref("int_prices_comparable_units")
    return new_rows(dbt, session, price_sizes, read_price_pairs, *relations)
