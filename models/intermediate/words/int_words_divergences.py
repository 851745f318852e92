from biasledger.measures.words_tables import divergences
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.words import read_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    comparisons = read_comparisons(
        dbt.ref("int_words_comparisons"),
        dbt.ref("int_words_members"),
        dbt.ref("int_words_features"),
        dbt.ref("int_words_vocabulary"),
        done=computed_keys(dbt, session),
    )
    return divergences(comparisons)
