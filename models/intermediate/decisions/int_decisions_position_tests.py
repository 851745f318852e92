from biasledger.measures.decisions.positions import position_tests
from biasledger.model_inputs.decisions import read_positions
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return new_rows(
        dbt, session, position_tests, read_positions, dbt.ref("int_decisions_positions"), by=("position_key",)
    )
