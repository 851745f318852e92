{{ config(materialized="by_run") }}

with

comparisons as (
    select
        run_id,
        comparison_key,
        contrast_id,
        kind,
        label_groups
    from {{ run_rows("int_prices_association_comparisons") }}
),

units as (
    select *
    from {{ run_rows("int_prices_compared_categories") }}
),

compared_units as (
    select distinct
        comparisons.run_id,
        comparisons.comparison_key,
        if(
            comparisons.kind = 'same', units.label_group = comparisons.label_groups[2], units.is_marked
        ) as label,
        units.unit,
        units.stratum,
        units.cluster
    from comparisons
    inner join units on comparisons.contrast_id = units.contrast_id
),

members as (
    select
        run_id,
        comparison_key,
        unit,
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(dense_rank() over (partition by comparison_key order by unit, stratum) - 1 as integer) as unit_id,
        cast(label as tinyint) as label,
        cast(dense_rank() over (partition by comparison_key order by stratum) - 1 as integer) as stratum_id,
        cast(dense_rank() over (partition by comparison_key order by cluster) - 1 as integer) as cluster_id
    from compared_units
)

select * from members
