-- Which places, names or couples get dearer items?
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

with

mean_price_levels as (
    select *
    from {{ ref("fct_mean_price_levels") }}
    where domain = '(all)'
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
)

select
    runs.audit,
    runs.target,
    mean_price_levels.mitigation,
    mean_price_levels.attribute,
    mean_price_levels.rank_from_dearest,
    mean_price_levels.group_name,
    mean_price_levels.mean_price_level,
    mean_price_levels.interval_low,
    mean_price_levels.interval_high,
    mean_price_levels.gap,
    mean_price_levels.reference_group,
    mean_price_levels.p_value_adjusted as p_adjusted
from mean_price_levels
inner join runs on mean_price_levels.run_id = runs.run_id
order by
    runs.audit, runs.target, mean_price_levels.mitigation, mean_price_levels.attribute,
    mean_price_levels.rank_from_dearest, mean_price_levels.group_name
