from biasledger.measures.lists import spreads
from biasledger.model_inputs.lists import read_spread_comparisons
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_lists_comparisons"), dbt.ref("int_lists_cells"), dbt.ref("int_lists_reruns")
    return new_rows(dbt, session, spreads, read_spread_comparisons, *relations, by=("run_id",))
