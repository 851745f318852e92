{{ config(materialized="by_run") }}

with

-- Categories are compared between two groups whose labels can move.
prices_prompts as (
    select *
    from {{ run_rows("int_prices_prompts") }}
    where is_movable
),

categories as (
    select *
    from {{ run_rows("int_prices_categories") }}
),

-- A null category counts the items.
units as (
    select
        prices_prompts.run_id,
        prices_prompts.mitigation,
        prices_prompts.attribute,
        prices_prompts.kind,
        prices_prompts.unit_kind,
        prices_prompts.is_crossed,
        prices_prompts.group_name,
        prices_prompts.label_group,
        prices_prompts.block_group,
        prices_prompts.unit,
        prices_prompts.stratum,
        prices_prompts.cluster,
        prices_prompts.domain,
        prices_prompts.question,
        categories.category,
        sum(categories.n order by prices_prompts.prompt_id) as n
    from prices_prompts
    inner join categories
        on
            prices_prompts.run_id = categories.run_id
            and prices_prompts.prompt_id = categories.prompt_id
    group by all
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
