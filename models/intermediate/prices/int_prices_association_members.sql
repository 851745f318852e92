with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        kind,
        label_groups
    from {{ ref("int_prices_association_comparisons") }}
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
    from {{ ref("int_prices_category_units") }}
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
            if(
                comparisons.kind = 'same',
                units.label_group = comparisons.label_groups[2], units.label_group = comparisons.group_name
            ) as tinyint
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
            and (
                comparisons.kind = 'same'
                or units.label_group in (comparisons.group_name, comparisons.reference_group)
            )
)

select * from members
