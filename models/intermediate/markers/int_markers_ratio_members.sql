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
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.unit) - 1 as integer
        ) as unit_id,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.cluster) - 1 as integer
        ) as cluster_id,
        cast(units.n as double) as n,
        units.total_ratio
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
