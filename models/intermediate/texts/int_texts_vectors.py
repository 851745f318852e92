from biasledger.model_inputs.texts import vectors_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = dbt.ref("int_texts_answers"), dbt.ref("int_texts_removed_words")
    return vectors_of_runs(dbt, session, dbt.ref("int_build_runs"), *relations)
