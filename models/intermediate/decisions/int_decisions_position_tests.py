from biasledger.measures.decisions.positions import position_tests
from biasledger.model_inputs.decisions import read_positions
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    return rows_of_runs(
        dbt,
        session,
        position_tests,
        read_positions,
        dbt.ref("int_build_runs"),
        dbt.ref("int_decisions_positions"),
    )
