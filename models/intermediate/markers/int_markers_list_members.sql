with

comparisons as (
    select
        comparison_key,
        contrast_id,
        scheme
    from {{ ref("int_markers_list_comparisons") }}
),

units as (
    select distinct
        contrast_id,
        scheme,
        is_marked,
        unit,
        stratum,
        cluster
    from {{ ref("int_markers_list_units") }}
),

members as (
    select
        comparisons.comparison_key,
        units.unit,
        {{ code_in_comparison("units.unit, units.stratum") }} as unit_id,
        cast(units.is_marked as tinyint) as label,
        {{ code_in_comparison("units.stratum") }} as stratum_id,
        {{ code_in_comparison("units.cluster") }} as cluster_id
    from comparisons
    inner join units
        on
            comparisons.contrast_id = units.contrast_id
            and comparisons.scheme = units.scheme
)

select * from members
