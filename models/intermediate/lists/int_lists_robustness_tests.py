from biasledger.measures.lists import robustness_tests
from biasledger.model_inputs.lists import read_robustness_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_lists_comparisons").filter("kind = 'wording'"),
        dbt.ref("int_lists_repeated_values").filter("kind = 'wording'"),
    )
    return new_rows(dbt, session, robustness_tests, read_robustness_comparisons, *relations, by=("run_id",))
