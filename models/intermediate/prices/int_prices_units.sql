{{ config(materialized="by_run") }}

with

prices_prompts as (
    select *
    from {{ run_rows("int_prices_prompts") }}
),

items as (
    select
        run_id,
        prompt_id,
        price_level,
        sum(n order by trial, place) as n
    from {{ run_rows("int_prices_items") }}
    where price_level is not null
    group by run_id, prompt_id, price_level
),

units as (
    select
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
        items.price_level,
        sum(items.n order by prices_prompts.prompt_id) as n
    from prices_prompts
    inner join items
        on
            prices_prompts.run_id = items.run_id
            and prices_prompts.prompt_id = items.prompt_id
    group by all
)

select * from units
