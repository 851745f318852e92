-- How much more of the stereotype's markers texts about a group's names hold than those about the reference's.
with

judged as (
    select
        contrast_id,
        finding_id,
        scheme,
        subject as category,
        status,
        threshold
    from marts.fct_findings
    where measure = 'stereotype_gap'
)

select
    gaps.category,
    gaps.attribute,
    gaps.group_name,
    gaps.reference_group,
    judged.finding_id,
    judged.status,
    gaps.adjusted_gap,
    gaps.adjusted_low as gap_low,
    gaps.adjusted_high as gap_high,
    judged.threshold,
    gaps.mean_marked as share,
    gaps.mean_reference as share_reference,
    gaps.mean_reference + gaps.null_mean - 1.96 * gaps.null_sd as chance_low,
    gaps.mean_reference + gaps.null_mean + 1.96 * gaps.null_sd as chance_high,
    gaps.p_value,
    gaps.n_marked_units,
    gaps.n_reference_units
from marts.fct_stereotype_gaps as gaps
left join judged using (contrast_id, scheme, category)
where
    gaps.run_id = $run_id
    and gaps.mitigation = 'plain'
    and gaps.is_judged
order by
    gaps.attribute like '%*%', gaps.attribute, gaps.category, gaps.adjusted_gap desc,
    gaps.group_name, gaps.reference_group
