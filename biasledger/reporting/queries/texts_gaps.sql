-- By how much the mean of each outcome of texts about a group differs from that about its reference.
with

judged as (
    select
        finding_id,
        contrast_id,
        measure,
        status,
        threshold
    from marts.fct_findings
)

select
    gaps.outcome,
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
    gaps.n_units,
    replace(measures.label, 'the gap in ', '') as outcome_label,
    if(measures.is_read_as_percent, 'log ratio', trim(measures.display_unit)) as outcome_unit,
    measures.display_factor = 100 and not measures.is_read_as_percent as is_share
from marts.fct_text_gaps as gaps
inner join marts.dim_measures as measures on measures.measure = gaps.outcome || '_gap'
left join judged on gaps.contrast_id = judged.contrast_id and judged.measure = gaps.outcome || '_gap'
where
    gaps.run_id = $run_id
    and gaps.mitigation = 'plain'
order by gaps.is_crossed, gaps.attribute, gaps.outcome desc, gaps.adjusted_gap desc, gaps.group_name
