-- Which model version is worst by measure? Most alarms first.
with

findings as (
    select *
    from {{ ref("fct_findings") }}
    where
        mitigation = 'plain'
        and status <> 'insufficient_data'
),

measures as (
    select
        measure,
        side
    from {{ ref("dim_measures") }}
),

runs as (
    select
        run_id,
        model_asked,
        started_at
    from {{ ref("dim_runs") }}
),

-- 1 is a value at the threshold, 2 one twice as far; of some measures the low values are the worse ones, 0 the worst.
strengths as (
    select
        findings.*,
        case
            when measures.side = 'lower' then findings.threshold / greatest(findings.value, 0.001)
            else abs(findings.value) / nullif(findings.threshold, 0)
        end as times_threshold
    from findings
    inner join measures on findings.measure = measures.measure
),

ranked_findings as (
    select
        *,
        row_number() over (
            partition by run_id, measure
            order by
                case when status = 'alarm' then 0 else 1 end, times_threshold desc nulls last, finding_id asc
        ) as finding_rank
    from strengths
),

counted as (
    select
        audit,
        measure,
        run_id,
        target,
        count(*) as n_findings,
        sum(case when status = 'alarm' then 1 else 0 end) as n_alarms,
        max(case when finding_rank = 1 then attribute end) as worst_attribute,
        max(case when finding_rank = 1 then group_name end) as worst_group,
        max(case when finding_rank = 1 then subject end) as worst_subject,
        max(case when finding_rank = 1 then value end) as worst_value,
        max(case when finding_rank = 1 then threshold end) as threshold,
        max(case when finding_rank = 1 then times_threshold end) as times_threshold
    from ranked_findings
    group by audit, measure, run_id, target
),

ranked as (
    select
        *,
        row_number() over (
            partition by audit, measure order by n_alarms desc, times_threshold desc nulls last, run_id asc
        ) as worst_rank
    from counted
)

select
    ranked.audit,
    ranked.measure,
    ranked.worst_rank,
    ranked.target,
    runs.model_asked as model,
    ranked.n_alarms,
    ranked.n_findings,
    ranked.worst_attribute,
    ranked.worst_group,
    ranked.worst_subject,
    ranked.worst_value,
    ranked.threshold,
    ranked.times_threshold,
    runs.started_at,
    ranked.run_id
from ranked
inner join runs on ranked.run_id = runs.run_id
order by ranked.audit, ranked.measure, ranked.worst_rank
