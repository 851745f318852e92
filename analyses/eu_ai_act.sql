-- Under which headings of the EU AI Act do the findings of a run belong?

-- The seed ai_act maps measures and methods to headings of Regulation (EU) 2024/1689; it says where a finding may be
-- used, and not whether a system is lawful. n_not_judged had too few answers.
with

headings as (
    select *
    from {{ ref("ai_act") }}
),

measures as (
    select
        measure,
        method
    from {{ ref("dim_measures") }}
),

findings as (
    select
        findings.run_id,
        findings.audit,
        findings.target,
        findings.status,
        measures.measure,
        measures.method
    from {{ ref("fct_findings") }} as findings
    inner join measures on findings.measure = measures.measure
),

mapped as (
    select
        findings.*,
        headings.article,
        headings.heading,
        headings.use
    from findings
    inner join headings
        on
            headings.method in ('*', findings.method)
            and headings.measure in ('*', findings.measure)
)

select
    audit,
    target,
    run_id,
    article,
    heading,
    use,
    string_agg(distinct measure, ', ' order by measure) as measures,
    sum(if(status = 'alarm', 1, 0)) as n_alarms,
    sum(if(status = 'inconclusive', 1, 0)) as n_inconclusive,
    sum(if(status = 'clear', 1, 0)) as n_clear,
    sum(if(status = 'insufficient_data', 1, 0)) as n_not_judged
from mapped
group by audit, target, run_id, article, heading, use
order by audit asc, target asc, run_id asc, article asc, heading asc, use asc
