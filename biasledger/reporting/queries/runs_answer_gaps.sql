-- Who is refused, or answered unusably, more often than its reference group, nobody in particular, or all others.
with

judged as (
    select
        contrast_id,
        finding_id,
        scheme,
        status
    from marts.fct_findings
    where measure = 'answer_gap'
)

select
    gaps.scheme,
    gaps.attribute,
    gaps.group_name,
    gaps.reference_group,
    judged.finding_id,
    judged.status,
    gaps.adjusted_gap,
    gaps.interval_low as gap_low,
    gaps.interval_high as gap_high,
    gaps.share_marked as share,
    gaps.share_reference,
    gaps.share_reference + gaps.null_mean - 1.96 * gaps.null_sd as chance_low,
    gaps.share_reference + gaps.null_mean + 1.96 * gaps.null_sd as chance_high,
    gaps.p_value,
    gaps.n_marked,
    gaps.n_reference
from marts.fct_answer_gaps as gaps
inner join judged using (contrast_id, scheme)
where
    gaps.run_id = $run_id
    and gaps.mitigation = 'plain'
    and gaps.adjusted_gap is not null
order by
    gaps.scheme, gaps.attribute like '%*%', gaps.attribute, abs(gaps.adjusted_gap) desc, gaps.group_name,
    gaps.reference_group
