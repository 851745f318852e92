from biasledger.model_inputs.texts import new_vectors


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return new_vectors(dbt, session, dbt.ref("int_texts_answers"), dbt.ref("int_texts_removed_words"))
