with

comparisons as (
    select
        comparison_key,
        ratio_key
    from {{ ref("int_markers_ratio_comparisons") }}
),

units as (
    select *
    from {{ ref("int_markers_ratio_units") }}
),

members as (
    select
        comparisons.comparison_key,
        {{ code_in_comparison("units.unit") }} as unit_id,
        {{ code_in_comparison("units.cluster") }} as cluster_id,
        cast(units.n as double) as n,
        units.total_ratio,
        cast(units.weight as double) as weight
    from comparisons
    inner join units on comparisons.ratio_key = units.ratio_key
)

select * from members
