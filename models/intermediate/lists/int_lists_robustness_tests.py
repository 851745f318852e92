from biasledger.measures.lists_tables import robustness_tests
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.lists import read_robustness_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_robustness_comparisons(
        dbt.ref("int_lists_robustness_comparisons"),
        dbt.ref("int_lists_robustness_cells"),
        done=computed_keys(dbt, session, "robustness_key"),
    )
    return robustness_tests(comparisons)
