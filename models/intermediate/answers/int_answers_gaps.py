from biasledger.measures.decisions_tables import gaps
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.decisions import read_gap_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_gap_comparisons(
        dbt.ref("int_answers_gap_comparisons").filter("n_events > 0"),
        dbt.ref("int_answers_gap_members"),
        done=computed_keys(dbt, session),
    )
    return gaps(comparisons)
