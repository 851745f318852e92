from biasledger.measures.words.judged import classifier_accuracies
from biasledger.model_inputs.models import rows_of_runs
from biasledger.model_inputs.words import CORPUS, read_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_words_comparisons").filter("scheme <> 'keys'"),
        dbt.ref("int_words_members"),
        dbt.ref("int_words_features"),
        dbt.ref("int_words_vocabulary"),
    )
    return rows_of_runs(
        dbt,
        session,
        classifier_accuracies,
        read_comparisons,
        *relations,
        by=CORPUS,
    )
