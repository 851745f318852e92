from biasledger.measures.words.judged import divergences
from biasledger.model_inputs.models import rows_of_runs
from biasledger.model_inputs.words import CORPUS, read_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    # It comes after the words, whose draws are its own: they pass on the results of the divergence.
    dbt.ref("int_words_statistics")
    comparisons = dbt.ref("int_words_comparisons").filter("scheme <> 'keys'")
    relations = (
        dbt.ref("int_build_runs"),
        # A group without a text has no row: another reference in its place would be taken for it.
        comparisons.filter("comparison <> 'all_groups' and n_marked_units > 0 and n_reference_units > 0"),
        dbt.ref("int_words_members"),
        dbt.ref("int_words_features"),
        dbt.ref("int_words_vocabulary"),
        comparisons,
    )
    return rows_of_runs(dbt, session, divergences, read_pairs, *relations, by=CORPUS)
