{{ config(materialized="by_run") }}

with

comparisons as (
    select
        run_id,
        comparison_key,
        contrast_id,
        kind,
        groups,
        label_groups
    from {{ run_rows("int_prices_comparisons") }}
),

units as (
    select *
    from {{ run_rows("int_prices_compared_units") }}
),

compared_units as (
    select distinct
        comparisons.run_id,
        comparisons.comparison_key,
        comparisons.kind,
        comparisons.groups,
        comparisons.label_groups,
        units.label_group,
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
        cast(
            dense_rank() over (
                partition by comparison_key order by unit, stratum
            ) - 1 as integer
        ) as unit_id,
        cast(
            case
                when kind = 'same' then list_position(label_groups, label_group)
                else list_position(groups, label_group)
            end - 1 as tinyint
        ) as label,
        cast(
            dense_rank() over (partition by comparison_key order by stratum) - 1 as integer
        ) as stratum_id,
        cast(
            dense_rank() over (partition by comparison_key order by cluster) - 1 as integer
        ) as cluster_id
    from compared_units
)

select * from members
