from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.recommenders import read_predictions, recommender_quality


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return new_rows(dbt, session, recommender_quality, read_predictions, dbt.ref("stg_ledger__predictions"))
