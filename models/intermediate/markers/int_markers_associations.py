from biasledger.measures.prices.associations import category_associations
from biasledger.model_inputs.models import rows_of_runs
from biasledger.model_inputs.prices import read_association_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="by_state")
    members = dbt.ref("int_markers_members")
    # A null category counts the tokens of a unit.
    units = members.filter("category_id is null")
    relations = (
        dbt.ref("int_build_runs"),
        dbt.ref("int_markers_comparisons").filter("kind = 'list'"),
        units,
        members.filter("category_id is not null").project(
            "comparison_key, unit_id, 0 as block, category_id, n"
        ),
        units.project("comparison_key, unit_id, 0 as block, n as n_items"),
    )
    return rows_of_runs(dbt, session, category_associations, read_association_comparisons, *relations)
