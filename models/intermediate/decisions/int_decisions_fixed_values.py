from biasledger.measures.decisions.fixed_values import fixed_value_gaps
from biasledger.model_inputs.decisions import read_fixed_values
from biasledger.model_inputs.models import rows_of_runs


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    return rows_of_runs(
        dbt,
        session,
        fixed_value_gaps,
        read_fixed_values,
        dbt.ref("int_build_runs"),
        dbt.ref("int_decisions_fixed_units"),
    )
