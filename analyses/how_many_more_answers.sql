-- How many more trials would settle the inconclusive findings?
with

findings as (
    select *
    from {{ ref("fct_findings") }}
    where
        status = 'inconclusive'
        and is_current
)

select
    findings.audit,
    findings.target,
    findings.mitigation,
    findings.measure,
    findings.attribute,
    findings.group_name,
    findings.reference_group,
    findings.subject,
    findings.settled_by as counted_in,
    findings.n_units as n_now,
    findings.n_units_needed as n_needed,
    findings.n_units_needed - findings.n_units as n_more,
    findings.n_units_needed / cast(findings.n_units as double) as times_as_many,
    findings.value,
    findings.interval_low,
    findings.interval_high,
    findings.clear_threshold as threshold
from findings
order by times_as_many asc nulls last, findings.finding_id asc
