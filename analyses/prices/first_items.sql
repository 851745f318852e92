-- Which item does each group get first most often? As in table 1 of Shen et al. (2022).
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
),

counted as (
    select
        items.run_id,
        prompt_groups.attribute,
        prompt_groups.group_name,
        items.item,
        max(items.price_level) as price_level,
        max(items.categories) as categories,
        max(prompt_groups.descriptor) as one_descriptor,
        sum(items.n) as n
    from {{ ref("fct_recommended_items") }} as items
    inner join {{ ref("dim_prompt_groups") }} as prompt_groups
        on
            items.run_id = prompt_groups.run_id
            and items.prompt_id = prompt_groups.prompt_id
    where
        items.mitigation = 'plain'
        and items.place = 1
        and items.item is not null
    group by items.run_id, prompt_groups.attribute, prompt_groups.group_name, items.item
),

ranked as (
    select
        *,
        n / sum(n) over (partition by run_id, attribute, group_name) as share,
        row_number() over (partition by run_id, attribute, group_name order by n desc, item asc) as item_rank
    from counted
)

select
    runs.audit,
    runs.target,
    ranked.attribute,
    ranked.group_name,
    ranked.one_descriptor,
    ranked.item as first_item,
    ranked.price_level,
    ranked.categories,
    ranked.share as share_of_answers,
    ranked.run_id
from ranked
inner join runs on ranked.run_id = runs.run_id
where ranked.item_rank = 1
order by
    runs.audit, runs.target, case when ranked.attribute like '%*%' then 1 else 0 end, ranked.attribute,
    ranked.group_name, ranked.run_id
