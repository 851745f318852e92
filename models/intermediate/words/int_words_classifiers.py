from biasledger.measures.words.judged import classifier_accuracies
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.words import CORPUS, read_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_words_comparisons").filter("scheme <> 'keys'"),
        dbt.ref("int_words_members"),
        dbt.ref("int_words_features"),
        dbt.ref("int_words_vocabulary"),
    )
    return new_rows(dbt, session, classifier_accuracies, read_comparisons, *relations, by=CORPUS)
