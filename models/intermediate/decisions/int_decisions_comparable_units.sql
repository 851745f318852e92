{{ config(materialized="view") }}

with

comparisons as (
    select
        pool_key,
        outcome,
        groups_compared
    from {{ ref("int_decisions_comparisons") }}
    where
        comparison = 'all_groups'
        and outcome = 'selected'
),

units as (
    select *
    from {{ ref("int_decisions_units") }}
    where n > 0
),

selections as (
    select
        units.run_id,
        units.mitigation,
        units.attribute,
        units.domain as subject,
        md5(concat_ws(chr(31), units.unit, units.stratum)) as unit_key,
        md5(units.stratum) as stratum,
        md5(units.cluster) as cluster,
        units.group_name,
        cast(max(round(units.n_candidates)) as integer) as n_candidates,
        sum(units.n) as n,
        sum(units.total order by units.person_name nulls first) as total
    from comparisons
    inner join units
        on
            comparisons.pool_key = units.pool_key
            and comparisons.outcome = units.outcome
            and list_contains(comparisons.groups_compared, units.group_name)
    group by
        units.run_id, units.mitigation, units.attribute, units.domain, units.unit, units.stratum, units.cluster,
        units.group_name
),

imported_selections as (
    {{ imported_rows("selection", {
        "run_id": "varchar", "mitigation": "varchar", "attribute": "varchar", "subject": "varchar", "unit_key": "varchar",
        "stratum": "varchar", "cluster": "varchar", "group_name": "varchar", "n_candidates": "integer", "n": "double",
        "total": "double",
    }) }}
),

comparable_units as (
    select * from selections
    union all by name
    select * from imported_selections
)

select * from comparable_units
