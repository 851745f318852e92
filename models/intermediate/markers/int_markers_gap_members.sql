with

comparisons as (
    select
        comparison_key,
        gap_key
    from {{ ref("int_markers_gap_comparisons") }}
),

units as (
    select *
    from {{ ref("int_markers_gap_units") }}
    where n > 0
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
        units.n,
        units.total
    from comparisons
    inner join units on comparisons.gap_key = units.gap_key
)

select * from members
