from biasledger.measures.markers import stereotype_ratios
from biasledger.model_inputs.markers import read_ratio_comparisons
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_markers_comparisons").filter("kind = 'ratio'"),
        dbt.ref("int_markers_members").project(
            "comparison_key, unit_id, cluster_id, n, total as total_ratio, weight"
        ),
    )
    return rows_of_runs(dbt, session, stereotype_ratios, read_ratio_comparisons, *relations)
