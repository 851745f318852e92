-- Findings that fail an audit, over the runs of each audit and target that was asked more than once.
with

runs as (
    select
        run_id,
        audit,
        target,
        started_at,
        count(*) over (partition by audit, target) as n_runs,
        row_number() over (partition by audit, target order by started_at, run_id) as run_number
    from marts.dim_runs
    where list_contains($run_ids, run_id)
),

findings as (
    select
        runs.audit,
        runs.target,
        runs.run_number,
        runs.run_id,
        strftime(runs.started_at, '%Y-%m-%d %H:%M:%S') as started_at,
        findings.measure,
        findings.scheme,
        findings.attribute,
        findings.group_name,
        findings.reference_group,
        findings.subject,
        findings.finding_id,
        findings.status,
        findings.value,
        findings.threshold,
        case measures.side
            when 'lower' then findings.threshold / nullif(abs(findings.value), 0)
            else abs(findings.value) / nullif(findings.threshold, 0)
        end as share_of_threshold
    from marts.fct_findings as findings
    inner join runs using (run_id)
    inner join marts.dim_measures as measures using (measure)
    where
        runs.n_runs > 1
        and findings.mitigation = 'plain'
        and findings.severity = 'error'
        and findings.status <> 'insufficient_data'
),

-- For each audit and target the five that ever lay farthest past their thresholds, where they were measured twice.
measured_twice as (
    select
        *,
        max(share_of_threshold) over question as highest_share
    from findings
    window
        question as (
            partition by audit, target, measure, scheme, attribute, group_name, reference_group, subject
        )
    qualify count(*) over question > 1
),

ranked as (
    select
        *,
        dense_rank() over (
            partition by audit, target
            order by
                highest_share desc nulls last, measure, scheme, attribute, group_name, reference_group, subject
        ) as place
    from measured_twice
)

select
    audit,
    target,
    run_number,
    run_id,
    started_at,
    measure,
    attribute,
    group_name,
    reference_group,
    subject,
    finding_id,
    status,
    value,
    threshold,
    share_of_threshold
from ranked
where place <= 5
order by audit, target, place, run_number
