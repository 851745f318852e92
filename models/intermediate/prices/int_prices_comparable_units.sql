with

-- Where groups have a reference, each is judged by its gap to that, which does not depend on the number of items.
comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where not has_reference
),

members as (
    select *
    from {{ ref("int_prices_members") }}
),

levels_of_units as (
    select *
    from {{ ref("int_prices_levels_of_units") }}
),

-- The number of a stratum or cluster holds inside its run alone: a unit's name says the same in every run.
units as (
    select distinct
        run_id,
        variant,
        attribute,
        unit,
        label_group,
        stratum,
        cluster
    from {{ ref("int_prices_units") }}
),

counts as (
    select
        comparisons.run_id,
        comparisons.variant,
        comparisons.attribute,
        md5(concat_ws(chr(31), units.unit, units.stratum)) as unit_key,
        md5(units.stratum) as stratum,
        md5(units.cluster) as cluster,
        comparisons.groups[members.label + 1] as group_name,
        comparisons.domains[levels_of_units.set_id + 1] as domain,
        cast(levels_of_units.level as integer) as level,
        cast(comparisons.n_levels as integer) as n_levels,
        sum(levels_of_units.n order by levels_of_units.question_id) as n
    from comparisons
    inner join members on comparisons.comparison_key = members.comparison_key
    inner join levels_of_units
        on
            members.comparison_key = levels_of_units.comparison_key
            and members.unit_id = levels_of_units.unit_id
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.attribute = units.attribute
            and members.unit = units.unit
    group by all
),

imported_counts as (
    {{ imported_rows("price", {
        "run_id": "varchar", "variant": "varchar", "attribute": "varchar", "unit_key": "varchar", "stratum": "varchar",
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
