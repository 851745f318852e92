from biasledger.model_inputs.models import rows_of_states
from biasledger.model_inputs.recommenders import read_predictions, recommender_quality


def model(dbt, session):
    dbt.config(
        materialized="incremental", incremental_strategy="delete+insert", unique_key="predictions_hash"
    )
    predictions = dbt.ref("stg_ledger__predictions").project("*, predictions_hash as run_state")
    return rows_of_states(dbt, session, recommender_quality, read_predictions, predictions)
