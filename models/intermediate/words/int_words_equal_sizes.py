from biasledger.measures.equal_sizes.words import word_sizes
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.words import read_word_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_run_pairs"),
        dbt.ref("int_words_comparable_members"),
        dbt.ref("int_words_comparable_counts"),
    )
    return new_rows(dbt, session, word_sizes, read_word_pairs, *relations, by=("pair_key",))
