from biasledger.measures.equal_sizes_tables import word_sizes
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.equal_sizes import read_word_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    pairs = read_word_pairs(
        dbt.ref("int_run_pairs"),
        dbt.ref("int_words_comparable_members"),
        dbt.ref("int_words_comparable_counts"),
        done=computed_keys(dbt, session, "pair_key"),
    )
    return word_sizes(pairs)
