from biasledger.measures.prices.items import levels
from biasledger.model_inputs.models import rows_of_runs
from biasledger.model_inputs.prices import members_of, read_price_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    comparisons, counts = dbt.ref("int_prices_comparisons"), dbt.ref("int_prices_counts")
    relations = dbt.ref("int_build_runs"), comparisons.filter("topic = 'prices'"), members_of(counts), counts
    return rows_of_runs(dbt, session, levels, read_price_comparisons, *relations)
