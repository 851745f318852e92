{%- set runs = new_runs(ref("int_prices_association_comparisons"), key="comparison_key") -%}
{{ config(materialized="kept", kept_by="comparison_key", kept_in="int_prices_association_comparisons") }}

with

comparisons as (
    select
        comparison_key,
        contrast_id,
        kind,
        label_groups
    from {{ ref("int_prices_association_comparisons") }}
    where {{ is_lacking("comparison_key", runs) }}
),

units as (
    select *
    from {{ ref("int_prices_compared_categories") }}
    where {{ is_of_runs("run_id", runs) }}
),

compared_units as (
    select distinct
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
