from biasledger.measures.words.judged import divergences
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.words import CORPUS, read_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    # It comes after the words, whose draws are its own: what they gave of the divergence is handed on.
    dbt.ref("int_words_statistics")
    comparisons = dbt.ref("int_words_comparisons").filter("scheme <> 'keys'")
    relations = (
        # Of a group without a text nothing is said, and who stood in for it as the reference would be taken for it.
        comparisons.filter("comparison <> 'all_groups' and n_marked_units > 0 and n_reference_units > 0"),
        dbt.ref("int_words_members"),
        dbt.ref("int_words_features"),
        dbt.ref("int_words_vocabulary"),
        comparisons,
    )
    return new_rows(dbt, session, divergences, read_pairs, *relations, by=CORPUS)
