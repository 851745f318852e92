with

findings as (
    select *
    from {{ ref("fct_findings") }}
    where
        is_current
        and mitigation = 'plain'
        and severity in ('error', 'warn')
),

measures as (
    select
        measure,
        method
    from {{ ref("dim_measures") }}
),

runs as (
    select
        run_id,
        started_at
    from {{ ref("dim_runs") }}
),

findings_current as (
    select
        findings.*,
        measures.method,
        runs.started_at,
        findings.status = 'alarm' and findings.severity = 'error' and not findings.is_excepted as fails_audit
    from findings
    inner join measures on findings.measure = measures.measure
    inner join runs on findings.run_id = runs.run_id
)

{{ contracted("findings_current") }}
