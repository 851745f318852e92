from biasledger.measures.decisions_tables import impact_ratios
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.decisions import read_impact_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_impact_comparisons(
        dbt.ref("int_decisions_impact_comparisons"),
        dbt.ref("int_decisions_impact_members"),
        done=computed_keys(dbt, session),
    )
    return impact_ratios(comparisons)
