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
)

select * from units
