from biasledger.measures.texts.similarity import similarity_gaps
from biasledger.model_inputs.models import rows_of_runs
from biasledger.model_inputs.texts import read_similarity_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_texts_comparisons").filter("outcome = 'similarity'"),
        dbt.ref("int_texts_units").filter("not is_repeated"),
        dbt.ref("int_texts_vectors"),
    )
    return rows_of_runs(dbt, session, similarity_gaps, read_similarity_comparisons, *relations)
