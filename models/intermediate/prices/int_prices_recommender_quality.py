from biasledger.model_inputs.models import rows_of_new_keys
from biasledger.model_inputs.recommenders import read_predictions, recommender_quality


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return rows_of_new_keys(
        dbt, session, recommender_quality, read_predictions, dbt.ref("stg_ledger__predictions")
    )
