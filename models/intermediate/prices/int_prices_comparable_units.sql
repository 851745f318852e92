{{ config(materialized="view") }}

with

-- With a reference, each group is judged by its gap to it, which does not depend on the number of items.
comparisons as (
    select
        run_id,
        mitigation,
        attribute,
        groups,
        domains,
        n_levels
    from {{ ref("int_prices_comparisons") }}
    where
        topic = 'prices'
        and not has_reference
),

units as (
    select *
    from {{ ref("int_prices_units") }}
    where topic = 'prices'
),

-- The number of a unit, stratum or cluster holds inside its run alone: its name says the same in every run.
counts as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.attribute,
        md5(concat_ws(chr(31), units.unit, units.stratum)) as unit_key,
        md5(units.stratum) as stratum,
        md5(units.cluster) as cluster,
        units.label_group as group_name,
        units.domain,
        cast(units.price_level as integer) as level,
        cast(comparisons.n_levels as integer) as n_levels,
        sum(units.n order by units.question) as n
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.mitigation = units.mitigation
            and comparisons.attribute = units.attribute
    where
        list_contains(comparisons.groups, units.group_name)
        and list_contains(comparisons.domains, units.domain)
    group by all
),

imported_counts as (
    {{ imported_rows("price", {
        "run_id": "varchar", "mitigation": "varchar", "attribute": "varchar", "unit_key": "varchar", "stratum": "varchar",
        "cluster": "varchar", "group_name": "varchar", "domain": "varchar", "level": "integer", "n_levels": "integer",
        "n": "double",
    }) }}
),

comparable_units as (
    select * from counts
    union all by name
    select * from imported_counts
)

select * from comparable_units
