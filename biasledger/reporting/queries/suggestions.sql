-- Suggestions against the alarms of a run: for their measures, then for all measures of their methods.
with

alarms as (
    select distinct
        findings.measure,
        measures.method
    from marts.fct_findings as findings
    inner join marts.dim_measures as measures using (measure)
    where
        findings.run_id = $run_id
        and findings.mitigation = 'plain'
        and findings.status = 'alarm'
        and not findings.is_excepted
)

select
    mitigations.kind,
    mitigations.suggestion,
    mitigations.source,
    string_agg(distinct alarms.measure, ', ' order by alarms.measure) as measures
from alarms
inner join settings.mitigations as mitigations
    on
        alarms.measure = mitigations.measure
        or (
            mitigations.measure = '*'
            and mitigations.method in (alarms.method, '*')
            and not list_contains($of_no_group, alarms.measure)
        )
group by mitigations.kind, mitigations.suggestion, mitigations.source
order by bool_and(mitigations.measure = '*'), mitigations.kind, mitigations.suggestion
