-- How often each model judges a group rightly, and how far off its labels are, where one audit was asked of several.
select
    runs.audit,
    judged.measure,
    gaps.domain,
    gaps.outcome,
    gaps.attribute,
    runs.target,
    gaps.group_name,
    gaps.reference_group,
    judged.status,
    judged.threshold,
    gaps.mean_marked as share,
    gaps.mean_reference as share_reference,
    gaps.mean_reference + gaps.null_mean - 1.96 * gaps.null_sd as chance_low,
    gaps.mean_reference + gaps.null_mean + 1.96 * gaps.null_sd as chance_high,
    gaps.adjusted_gap,
    gaps.adjusted_low as gap_low,
    gaps.adjusted_high as gap_high
from marts.fct_decision_gaps as gaps
inner join marts.dim_runs as runs using (run_id)
inner join marts.fct_findings as judged
    on
        gaps.contrast_id = judged.contrast_id
        and gaps.outcome = judged.scheme
        and gaps.domain = judged.subject
where
    list_contains($run_ids, gaps.run_id)
    and gaps.mitigation = 'plain'
    and judged.measure in ('accuracy_gap', 'rank_gap')
qualify count(distinct runs.target) over (partition by runs.audit) > 1
order by
    runs.audit, judged.measure, gaps.attribute like '%*%', gaps.attribute, gaps.domain, gaps.group_name,
    gaps.reference_group, runs.target
