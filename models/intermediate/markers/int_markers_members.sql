with

comparisons as (
    select
        comparison_key,
        kind,
        units_key,
        categories
    from {{ ref("int_markers_comparisons") }}
),

units as (
    select
        units_key,
        is_marked,
        unit,
        stratum,
        cluster,
        name,
        name_stratum,
        list,
        n,
        total
    from {{ ref("int_markers_units") }}
    where
        outcome = 'list'
        or n > 0
    union all by name
    select
        units_key,
        unit,
        cluster,
        n,
        total_ratio as total,
        weight
    from {{ ref("int_markers_ratio_units") }}
),

members as (
    select
        comparisons.comparison_key,
        {{ code_in_comparison("units.unit, units.stratum") }} as unit_id,
        cast(units.is_marked as tinyint) as label,
        {{ code_in_comparison("units.stratum") }} as stratum_id,
        {{ code_in_comparison("units.cluster") }} as cluster_id,
        case when units.name is not null then {{ code_in_comparison("units.name") }} end as name_id,
        {{ code_in_comparison("units.name_stratum") }} as name_stratum_id,
        cast(list_position(comparisons.categories, units.list) - 1 as integer) as category_id,
        -- A token may hold several markers of a list; where they outnumber the tokens, these are all there is to count.
        cast(
            if(
                comparisons.kind = 'list',
                least(
                    units.n,
                    max(units.n) filter (where units.list is null) over (
                        partition by comparisons.comparison_key, units.unit
                    )
                ),
                units.n
            ) as double
        ) as n,
        units.total,
        cast(units.weight as double) as weight
    from comparisons
    inner join units on comparisons.units_key = units.units_key
)

select * from members
