with

history as (
    select *
    from {{ ref("fct_finding_history") }}
    where not is_removed
),

findings as (
    select
        finding_id,
        status,
        is_excepted,
        is_current
    from {{ ref("fct_findings") }}
),

past as (
    select
        finding_id,
        any_value(run_id) as run_id,
        first(status order by built_at asc) as first_status,
        first(build_id order by built_at asc) as first_build_id,
        first(settings_hash order by built_at asc) as first_settings_hash,
        min(built_at) as first_judged_at,
        max(built_at) as last_changed_at,
        count(*) as n_versions
    from history
    group by finding_id
),

verdicts as (
    select
        cast(past.finding_id as varchar) as finding_id,
        cast(past.run_id as varchar) as run_id,
        cast(past.first_build_id as varchar) as first_build_id,
        cast(past.first_settings_hash as varchar) as first_settings_hash,
        cast(past.first_status as varchar) as first_status,
        cast(findings.status as varchar) as status,
        cast(past.n_versions as bigint) as n_versions,
        cast(past.first_status is distinct from findings.status as boolean) as is_rejudged,
        cast(past.first_judged_at as timestamp) as first_judged_at,
        cast(past.last_changed_at as timestamp) as last_changed_at
    from past
    left join findings on past.finding_id = findings.finding_id
)

select * from verdicts
