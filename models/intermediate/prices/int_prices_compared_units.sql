{{ config(materialized="by_run") }}

with

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        groups
    from {{ run_rows("int_prices_contrasts") }}
),

units as (
    select *
    from {{ run_rows("int_prices_units") }}
),

-- A domain in which one group has no items says nothing about the difference.
compared_units as (
    select
        contrasts.contrast_id,
        contrasts.run_id,
        units.label_group,
        units.block_group,
        units.unit,
        units.stratum,
        units.cluster,
        units.domain,
        units.question,
        units.price_level,
        units.n
    from contrasts
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.mitigation = units.mitigation
            and contrasts.attribute = units.attribute
    where list_contains(contrasts.groups, units.group_name)
    qualify
        count(distinct units.group_name) over (partition by contrasts.contrast_id, units.domain)
        = len(contrasts.groups)
)

select * from compared_units
