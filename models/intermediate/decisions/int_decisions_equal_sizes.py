from biasledger.measures.equal_sizes_tables import selection_sizes
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.equal_sizes import read_selection_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    pairs = read_selection_pairs(
        dbt.ref("int_run_pairs"),
        dbt.ref("int_decisions_comparable_units"),
        done=computed_keys(dbt, session, "pair_key"),
    )
    return selection_sizes(pairs)
