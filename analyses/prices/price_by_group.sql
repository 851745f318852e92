-- Which prices does each group get? Mean price level and shares of the cheapest and the dearest items.
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

with

mean_price_levels as (
    select *
    from {{ ref("fct_mean_price_levels") }}
    where domain = '(all)'
),

price_levels as (
    select
        *,
        max(price_level) over (partition by run_id, mitigation, attribute) as dearest_level
    from {{ ref("fct_price_levels") }}
    where domain = '(all)'
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

-- Shares of a level's items that go to the group, less what its share of all items would give.
ends as (
    select
        contrast_id,
        group_name,
        max(case when price_level = 1 then share end) as share_of_the_cheapest,
        max(case when price_level = 1 then excess end) as cheapest_beyond_chance,
        max(case when price_level = dearest_level then share end) as share_of_the_dearest,
        max(case when price_level = dearest_level then excess end) as dearest_beyond_chance
    from price_levels
    group by contrast_id, group_name
)

select
    runs.audit,
    runs.target,
    mean_price_levels.mitigation,
    mean_price_levels.attribute,
    mean_price_levels.group_name,
    mean_price_levels.mean_price_level,
    mean_price_levels.interval_low,
    mean_price_levels.interval_high,
    mean_price_levels.reference_group,
    mean_price_levels.adjusted_gap as dearer_by,
    mean_price_levels.p_value_adjusted as p_adjusted,
    ends.share_of_the_cheapest,
    ends.cheapest_beyond_chance,
    ends.share_of_the_dearest,
    ends.dearest_beyond_chance
from mean_price_levels
inner join runs on mean_price_levels.run_id = runs.run_id
left join ends
    on
        mean_price_levels.contrast_id = ends.contrast_id
        and mean_price_levels.group_name = ends.group_name
order by
    runs.audit, runs.target, mean_price_levels.mitigation, mean_price_levels.attribute,
    mean_price_levels.mean_price_level, mean_price_levels.group_name
