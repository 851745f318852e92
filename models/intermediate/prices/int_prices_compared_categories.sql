{{ config(materialized="by_run") }}

with

units as (
    select *
    from {{ run_rows("int_prices_category_units") }}
),

contrasts as (
    select
        contrast_id,
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group
    from {{ run_rows("int_contrasts") }}
    where comparison = 'against_reference'
),

-- A domain in which one group has no items says nothing about the difference.
compared_units as (
    select
        contrasts.contrast_id,
        contrasts.run_id,
        units.kind,
        units.unit_kind,
        units.label_group,
        units.block_group,
        units.unit,
        units.stratum,
        units.cluster,
        units.domain,
        units.question,
        units.category,
        units.n,
        units.group_name = contrasts.group_name as is_marked
    from contrasts
    inner join units
        on
            contrasts.run_id = units.run_id
            and contrasts.mitigation = units.mitigation
            and contrasts.attribute = units.attribute
    where units.group_name in (contrasts.group_name, contrasts.reference_group)
    qualify
        bool_or(units.group_name = contrasts.group_name) over (partition by contrasts.contrast_id, units.domain)
        and bool_or(units.group_name <> contrasts.group_name) over (partition by contrasts.contrast_id, units.domain)
)

select * from compared_units
