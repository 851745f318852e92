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
        label_groups,
        domains
    from {{ ref("int_prices_association_comparisons") }}
),

units as (
    select *
    from {{ ref("int_prices_category_units") }}
),

compared_units as (
    select distinct
        comparisons.comparison_key,
        comparisons.kind,
        comparisons.group_name,
        comparisons.label_groups,
        units.label_group,
        units.unit,
        units.stratum,
        units.cluster
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.attribute = units.attribute
            and units.group_name in (comparisons.group_name, comparisons.reference_group)
            and list_contains(comparisons.domains, units.domain)
),

members as (
    select
        comparison_key,
        unit,
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(dense_rank() over (partition by comparison_key order by unit, stratum) - 1 as integer) as unit_id,
        cast(if(kind = 'same', label_group = label_groups[2], label_group = group_name) as tinyint) as label,
        cast(dense_rank() over (partition by comparison_key order by stratum) - 1 as integer) as stratum_id,
        cast(dense_rank() over (partition by comparison_key order by cluster) - 1 as integer) as cluster_id
    from compared_units
)

select * from members
