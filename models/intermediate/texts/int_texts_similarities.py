from biasledger.measures.texts.similarity import similarity_gaps
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.texts import read_similarity_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    relations = (
        dbt.ref("int_texts_comparisons").filter("outcome = 'similarity'"),
        dbt.ref("int_texts_units").filter("not is_repeated"),
        dbt.ref("int_texts_vectors"),
    )
    return new_rows(dbt, session, similarity_gaps, read_similarity_comparisons, *relations, by=("run_id",))
