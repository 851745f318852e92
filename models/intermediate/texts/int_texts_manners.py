from biasledger.model_inputs.texts import new_manners


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return new_manners(dbt, session, dbt.ref("int_texts_answers"), dbt.ref("hedges"))
