from biasledger.model_inputs.texts import outcomes_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = dbt.ref("int_texts_answers"), dbt.ref("int_texts_removed_words"), dbt.ref("hedges")
    return outcomes_of_runs(dbt, session, dbt.ref("int_build_runs"), *relations)
