from biasledger.measures.decisions.paired import paired_tests
from biasledger.model_inputs.decisions import read_blocks
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    return rows_of_runs(
        dbt, session, paired_tests, read_blocks, dbt.ref("int_build_runs"), dbt.ref("int_decisions_blocks")
    )
