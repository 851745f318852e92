from biasledger.measures.prices.associations import category_associations
from biasledger.model_inputs.models import new_rows
from biasledger.model_inputs.prices import read_association_comparisons


def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    members = dbt.ref("int_markers_members")
    # A null category counts the tokens of a unit.
    units = members.filter("category_id is null")
    relations = (
        dbt.ref("int_markers_comparisons").filter("kind = 'list'"),
        units,
        members.filter("category_id is not null").project(
            "comparison_key, unit_id, 0 as block, category_id, n"
        ),
        units.project("comparison_key, unit_id, 0 as block, n as n_items"),
    )
    return new_rows(
        dbt, session, category_associations, read_association_comparisons, *relations, by=("run_id",)
    )
