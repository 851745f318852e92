with

comparisons as (
    select
        run_id,
        variant,
        domain,
        attribute
    from {{ ref("int_decisions_impact_comparisons") }}
    where outcome = 'selected'
),

categories as (
    select *
    from {{ ref("int_decisions_categories") }}
    where
        excluded_reason is null
        and outcome = 'selected'
),

units as (
    select *
    from {{ ref("int_decisions_units") }}
    where outcome = 'selected'
),

selections as (
    select
        comparisons.run_id,
        comparisons.variant,
        comparisons.attribute,
        comparisons.domain as subject,
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
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.domain = units.domain
            and comparisons.attribute = units.attribute
    inner join categories
        on
            units.run_id = categories.run_id
            and units.variant = categories.variant
            and units.domain = categories.domain
            and units.attribute = categories.attribute
            and units.group_name = categories.group_name
    group by
        comparisons.run_id, comparisons.variant, comparisons.attribute, comparisons.domain, units.unit, units.stratum,
        units.cluster, units.group_name
),

imported_selections as (
    {{ imported_rows("selection", {
        "run_id": "varchar", "variant": "varchar", "attribute": "varchar", "subject": "varchar", "unit_key": "varchar",
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
