with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        outcome,
        scheme,
        domain,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_markers_gap_comparisons") }}
),

units as (
    select *
    from {{ ref("int_markers_gap_units") }}
),

members as (
    select
        comparisons.comparison_key,
        {{ code_in_comparison("units.unit, units.stratum") }} as unit_id,
        cast(units.group_name = comparisons.group_name as tinyint) as label,
        {{ code_in_comparison("units.stratum") }} as stratum_id,
        {{ code_in_comparison("units.cluster") }} as cluster_id,
        case when units.name is not null then {{ code_in_comparison("units.name") }} end as name_id,
        {{ code_in_comparison("units.name_stratum") }} as name_stratum_id,
        units.n,
        units.total
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.outcome = units.outcome
            and comparisons.scheme = units.scheme
            and comparisons.domain = units.domain
            and comparisons.attribute = units.attribute
            and comparisons.group_name = units.marked_group
            and comparisons.reference_group = units.reference_group
    where units.n > 0
)

select * from members
