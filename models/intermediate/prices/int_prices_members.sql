with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        attribute,
        kind,
        groups,
        label_groups
    from {{ ref("int_prices_comparisons") }}
),

units as (
    select distinct
        run_id,
        variant,
        attribute,
        label_group,
        unit,
        stratum,
        cluster
    from {{ ref("int_prices_units") }}
),

members as (
    select
        comparisons.comparison_key,
        units.unit,
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by units.unit, units.stratum
            ) - 1 as integer
        ) as unit_id,
        cast(
            case
                when comparisons.kind = 'same' then list_position(comparisons.label_groups, units.label_group)
                else list_position(comparisons.groups, units.label_group)
            end - 1 as tinyint
        ) as label,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.stratum) - 1 as integer
        ) as stratum_id,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.cluster) - 1 as integer
        ) as cluster_id
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.attribute = units.attribute
)

select * from members
