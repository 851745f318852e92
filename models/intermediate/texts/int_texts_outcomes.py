from biasledger.model_inputs.texts import new_outcomes


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = dbt.ref("int_texts_answers"), dbt.ref("int_texts_removed_words"), dbt.ref("hedges")
    return new_outcomes(dbt, session, *relations)
