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
        past.*,
        findings.status,
        (past.first_status is distinct from findings.status) as is_rejudged
    from past
    left join findings on past.finding_id = findings.finding_id
)

{{ contracted("verdicts") }}
