{%- set runs = new_runs(ref("int_prices_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_prices_runs") }}

with

prices_prompts as (
    select *
    from {{ ref("int_prices_prompts") }}
    where {{ is_of_runs("run_id", runs) }}
),

items as (
    select
        run_id,
        prompt_id,
        price_level,
        sum(n order by trial, place) as n
    from {{ ref("int_prices_items") }}
    where
        price_level is not null
        and {{ is_of_runs("run_id", runs) }}
    group by run_id, prompt_id, price_level
),

units as (
    select
        prices_prompts.run_id,
        prices_prompts.run_state,
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
