-- The semantic layer wants a calendar.
{{ config(enabled=env_var("BIASLEDGER_METRICS", "") != "") }}

with

runs as (
    select started_at
    from {{ ref("dim_runs") }}
),

days as (
    select unnest(range(cast(min(started_at) as date), current_date + 1, interval 1 day)) as day
    from runs
)

{{ contracted("days") }}
