from biasledger.measures.prices_tables import category_associations
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.prices import read_association_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    counts = dbt.ref("int_prices_category_counts")
    comparisons = read_association_comparisons(
        dbt.ref("int_prices_association_comparisons"),
        dbt.ref("int_prices_association_members"),
        counts.filter("category_id is not null"),
        counts.filter("category_id is null").project(
            "comparison_key, unit_id, block, question_id, n as n_items"
        ),
        done=computed_keys(dbt, session),
    )
    return category_associations(comparisons)
