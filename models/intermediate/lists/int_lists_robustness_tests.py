from biasledger.measures.lists import robustness_tests
from biasledger.model_inputs.lists import read_robustness_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_lists_comparisons").filter("kind = 'wording'"),
        dbt.ref("int_lists_repeated_values").filter("kind = 'wording'"),
    )
    return rows_of_runs(dbt, session, robustness_tests, read_robustness_comparisons, *relations)
