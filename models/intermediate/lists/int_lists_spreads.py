from biasledger.measures.lists_tables import spreads
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.lists import read_spread_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_spread_comparisons(
        dbt.ref("int_lists_comparisons"),
        dbt.ref("int_lists_cells"),
        dbt.ref("int_lists_reruns"),
        done=computed_keys(dbt, session, "comparison_key"),
    )
    return spreads(comparisons)
