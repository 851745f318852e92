from biasledger.measures.prices.means import means
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.prices import members_of, read_price_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons, counts = dbt.ref("int_prices_comparisons"), dbt.ref("int_prices_counts")
    relations = comparisons.filter("topic = 'prices'"), members_of(counts), counts
    return new_rows(dbt, session, means, read_price_comparisons, *relations, by=("run_id",))
