-- What each model has of a measure that fails audits, where one audit was asked of several; what lies farthest first.
with

findings as (
    select
        findings.*,
        measures.side,
        measures.no_difference,
        case measures.side
            when 'lower' then findings.threshold / nullif(abs(findings.value), 0)
            else abs(findings.value) / nullif(findings.threshold, 0)
        end as share_of_threshold
    from marts.fct_findings as findings
    inner join marts.dim_measures as measures using (measure)
    where
        list_contains($run_ids, findings.run_id)
        and findings.mitigation = 'plain'
        and findings.severity = 'error'
        and findings.status <> 'insufficient_data'
),

compared as (
    select
        *,
        max(share_of_threshold) over (partition by audit, measure, attribute) as highest
    from findings
    qualify
        count(*) over (
            partition by audit, measure, scheme, attribute, group_name, reference_group, subject
        ) > 1
)

select
    audit,
    target,
    measure,
    attribute,
    group_name,
    reference_group,
    subject,
    finding_id,
    status,
    value,
    value_low,
    value_high,
    threshold,
    side,
    no_difference
from compared
order by highest desc, audit, measure, attribute, subject, group_name, reference_group, target
