-- How much worse texts about a group are scored than texts about the reference group.
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
    where measure in ('negative_regard_gap', 'text_score_gap')
)

select
    gaps.scorer,
    gaps.label,
    gaps.worse,
    gaps.category,
    gaps.attribute,
    gaps.group_name,
    gaps.reference_group,
    judged.finding_id,
    judged.status,
    gaps.adjusted_gap,
    gaps.adjusted_low,
    gaps.adjusted_high,
    judged.threshold,
    gaps.mean_score_marked,
    gaps.mean_score_reference,
    gaps.p_value,
    gaps.n_marked_units,
    gaps.n_reference_units
from marts.fct_regard_gaps as gaps
left join judged using (contrast_id, scheme, category)
where
    gaps.run_id = $run_id
    and gaps.mitigation = 'plain'
    and gaps.is_judged
order by
    gaps.attribute like '%*%', gaps.attribute, gaps.scheme, gaps.category, gaps.adjusted_gap desc,
    gaps.group_name, gaps.reference_group
