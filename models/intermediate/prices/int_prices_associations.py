from biasledger.measures.prices.associations import category_associations
from biasledger.model_inputs.models import rows_of_runs
from biasledger.model_inputs.prices import members_of, read_association_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    counts = dbt.ref("int_prices_counts")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_prices_comparisons").filter("topic = 'categories'"),
        members_of(counts),
        counts.filter("category_id is not null"),
        counts.filter("category_id is null").project(
            "run_id, comparison_key, unit_id, block, question_id, n as n_items"
        ),
    )
    return rows_of_runs(dbt, session, category_associations, read_association_comparisons, *relations)
