from biasledger.measures.markers import stereotype_ratios
from biasledger.model_inputs.markers import read_ratio_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_markers_comparisons").filter("kind = 'ratio'"),
        dbt.ref("int_markers_members").project(
            "comparison_key, unit_id, cluster_id, n, total as total_ratio, weight"
        ),
    )
    return new_rows(dbt, session, stereotype_ratios, read_ratio_comparisons, *relations, by=("run_id",))
