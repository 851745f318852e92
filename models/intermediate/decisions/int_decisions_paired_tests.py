from biasledger.measures.decisions_tables import paired_tests
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.decisions import read_blocks


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    blocks = read_blocks(dbt.ref("int_decisions_blocks"), done=computed_keys(dbt, session, "block_key"))
    return paired_tests(blocks)
