with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        scheme,
        category,
        probe
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
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.scheme = units.scheme
            and comparisons.category = units.category
            and comparisons.probe = units.probe
)

select * from members
