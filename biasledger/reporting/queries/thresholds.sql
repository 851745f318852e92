-- The thresholds that these findings were judged by, and why they are what they are.
select distinct
    thresholds.measure,
    thresholds.audit,
    thresholds.attribute,
    thresholds.threshold,
    thresholds.alpha,
    thresholds.min_units,
    thresholds.severity,
    thresholds.reason,
    thresholds.source
from settings.thresholds as thresholds
inner join marts.fct_findings as findings
    on
        thresholds.measure = findings.measure
        and thresholds.audit = findings.threshold_audit
        and thresholds.attribute = findings.threshold_attribute
where list_contains($run_ids, findings.run_id)
order by thresholds.measure, thresholds.audit, thresholds.attribute, thresholds.threshold
