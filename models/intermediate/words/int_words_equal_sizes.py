from biasledger.measures.equal_sizes.words import word_sizes
from biasledger.model_inputs.models import rows_of_states
from biasledger.model_inputs.words import read_word_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state", meta={"states": "int_run_pairs"})
    relations = (
        dbt.ref("int_run_pairs"),
        dbt.ref("int_words_comparable_members"),
        dbt.ref("int_words_comparable_counts"),
    )
    return rows_of_states(dbt, session, word_sizes, read_word_pairs, *relations)
