from biasledger.measures.decisions_tables import position_tests
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.decisions import read_positions


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    positions = read_positions(
        dbt.ref("int_decisions_positions"), done=computed_keys(dbt, session, "position_key")
    )
    return position_tests(positions)
