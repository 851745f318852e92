with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        scheme,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_markers_list_comparisons") }}
),

units as (
    select distinct
        run_id,
        variant,
        scheme,
        attribute,
        marked_group,
        reference_group,
        group_name,
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
        cast(units.group_name = comparisons.group_name as tinyint) as label,
        {{ code_in_comparison("units.stratum") }} as stratum_id,
        {{ code_in_comparison("units.cluster") }} as cluster_id
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.scheme = units.scheme
            and comparisons.attribute = units.attribute
            and comparisons.group_name = units.marked_group
            and comparisons.reference_group = units.reference_group
)

select * from members
