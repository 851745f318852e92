-- Every finding of these runs, what needs a decision first.
select
    findings.finding_id,
    findings.run_id,
    findings.audit,
    findings.target,
    findings.mitigation,
    findings.measure,
    findings.scheme,
    findings.attribute,
    findings.group_name,
    findings.reference_group,
    findings.subject,
    findings.member,
    findings.reference_member,
    findings.group_in_words,
    findings.reference_in_words,
    findings.status,
    findings.severity,
    findings.is_excepted,
    findings.is_current,
    findings.value,
    findings.threshold,
    findings.interval_low,
    findings.interval_high,
    findings.value_low,
    findings.value_high,
    measures.no_difference,
    findings.p_value_adjusted,
    findings.n_units,
    findings.n_units_needed,
    findings.settled_by,
    findings.scope,
    findings.advice,
    measures.side,
    measures.method,
    findings.statement,
    findings.caution,
    findings.explanation
from marts.fct_findings as findings
inner join marts.dim_measures as measures using (measure)
where list_contains($run_ids, findings.run_id)
order by
    findings.is_current desc,
    findings.is_excepted,
    list_position(['alarm', 'inconclusive', 'clear', 'insufficient_data'], findings.status),
    list_position(['error', 'warn', 'none'], findings.severity),
    case measures.side
        when 'lower' then findings.threshold / nullif(abs(findings.value), 0)
        else abs(findings.value) / nullif(findings.threshold, 0)
    end desc nulls last,
    findings.run_id,
    findings.finding_id
