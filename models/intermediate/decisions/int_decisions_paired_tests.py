from biasledger.measures.decisions.paired import paired_tests
from biasledger.model_inputs.decisions import read_blocks
from biasledger.model_inputs.models import new_rows


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return new_rows(
        dbt, session, paired_tests, read_blocks, dbt.ref("int_decisions_blocks"), by=("block_key",)
    )
