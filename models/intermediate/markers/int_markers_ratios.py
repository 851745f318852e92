from biasledger.measures.markers import stereotype_ratios
from biasledger.model_inputs.markers import read_ratio_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_markers_ratio_comparisons"), dbt.ref("int_markers_ratio_members")
    return new_rows(dbt, session, stereotype_ratios, read_ratio_comparisons, *relations, by=("run_id",))
