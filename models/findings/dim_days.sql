-- The semantic layer wants a calendar.
{{ config(enabled=env_var("BIASLEDGER_METRICS", "") != "") }}

with

runs as (
    select started_at
    from {{ ref("dim_runs") }}
),

days as (
    select unnest(generate_series(min(started_at)::date, current_date, interval 1 day)) as day
    from runs
)

{{ contracted("days") }}
