from biasledger.measures.words.judged import divergences
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.words import CORPUS, read_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    # It comes after the words, whose draws are its own: they pass on the results of the divergence.
    dbt.ref("int_words_statistics")
    comparisons = dbt.ref("int_words_comparisons").filter("scheme <> 'keys'")
    relations = (
        # A group without a text has no row: another reference in its place would be taken for it.
        comparisons.filter("comparison <> 'all_groups' and n_marked_units > 0 and n_reference_units > 0"),
        dbt.ref("int_words_members"),
        dbt.ref("int_words_features"),
        dbt.ref("int_words_vocabulary"),
        comparisons,
    )
    return new_rows(dbt, session, divergences, read_pairs, *relations, by=CORPUS)
