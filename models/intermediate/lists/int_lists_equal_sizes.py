from biasledger.measures.equal_sizes_tables import list_sizes
from biasledger.model_inputs.cache import computed_keys
from biasledger.model_inputs.equal_sizes import read_list_pairs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    pairs = read_list_pairs(
        dbt.ref("int_run_pairs"),
        dbt.ref("int_lists_comparable_cells"),
        done=computed_keys(dbt, session, "pair_key"),
    )
    return list_sizes(pairs)
