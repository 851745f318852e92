-- Each group against its reference: rank_value (rank, place or score), being selected, the share of right decisions,
-- and of each kind of error.
with

judged as (
    select
        contrast_id,
        finding_id,
        scheme as outcome,
        subject as domain,
        measure,
        status,
        threshold
    from marts.fct_findings
    where
        measure in (
            'rank_gap', 'place_gap', 'score_gap', 'relative_gap', 'percentile_gap', 'accuracy_gap', 'error_rate_gap'
        )
)

select
    gaps.domain,
    gaps.outcome,
    gaps.attribute,
    gaps.group_name,
    gaps.reference_group,
    runs.noun_outcome,
    judged.measure,
    judged.finding_id,
    judged.status,
    judged.threshold,
    gaps.adjusted_gap,
    gaps.adjusted_low as gap_low,
    gaps.adjusted_high as gap_high,
    gaps.mean_marked as share,
    gaps.mean_reference as share_reference,
    gaps.mean_reference + gaps.null_mean - 1.96 * gaps.null_sd as chance_low,
    gaps.mean_reference + gaps.null_mean + 1.96 * gaps.null_sd as chance_high,
    gaps.p_value,
    gaps.n_clusters
from marts.fct_decision_gaps as gaps
inner join marts.dim_runs as runs on gaps.run_id = runs.run_id
left join judged using (contrast_id, outcome, domain)
where
    gaps.run_id = $run_id
    and gaps.mitigation = 'plain'
order by
    gaps.domain,
    list_position(
        ['rank_value', 'relative', 'percentile', 'selected', 'correct', 'false_positive', 'false_negative'],
        gaps.outcome
    ),
    gaps.outcome,
    gaps.attribute like '%*%', gaps.attribute, gaps.adjusted_gap, gaps.group_name, gaps.reference_group
