from biasledger.measures.markers_tables import stereotype_ratios
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.markers import read_ratio_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_ratio_comparisons(
        dbt.ref("int_markers_ratio_comparisons"),
        dbt.ref("int_markers_ratio_members"),
        done=computed_keys(dbt, session),
    )
    return stereotype_ratios(comparisons)
