{{ config(materialized="by_run") }}

with

prices_prompts as (
    select *
    from {{ run_rows("int_prices_prompts") }}
),

items_of_levels as (
    select
        'prices' as topic,
        run_id,
        prompt_id,
        price_level,
        sum(n order by trial, place) as n
    from {{ run_rows("int_prices_items") }}
    where price_level is not null
    group by run_id, prompt_id, price_level
),

-- A null category counts the items.
items_of_categories as (
    select
        'categories' as topic,
        run_id,
        prompt_id,
        category,
        n
    from {{ run_rows("int_prices_categories") }}
),

counted_items as (
    select * from items_of_levels
    union all by name
    select * from items_of_categories
),

units as (
    select
        counted_items.topic,
        prices_prompts.run_id,
        prices_prompts.mitigation,
        prices_prompts.attribute,
        prices_prompts.unit_kind,
        prices_prompts.kind,
        prices_prompts.is_crossed,
        prices_prompts.is_movable,
        prices_prompts.group_name,
        prices_prompts.label_group,
        prices_prompts.block_group,
        prices_prompts.unit,
        prices_prompts.stratum,
        prices_prompts.cluster,
        prices_prompts.domain,
        prices_prompts.question,
        counted_items.price_level,
        counted_items.category,
        sum(counted_items.n order by prices_prompts.prompt_id) as n
    from prices_prompts
    inner join counted_items
        on
            prices_prompts.run_id = counted_items.run_id
            and prices_prompts.prompt_id = counted_items.prompt_id
    -- Categories are compared between two groups whose labels can move.
    where counted_items.topic = 'prices' or prices_prompts.is_movable
    group by all
)

select * from units
