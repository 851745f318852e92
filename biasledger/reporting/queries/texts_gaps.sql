-- How much easier answers about each group read than those about its reference, and how much more of them hedges.
with

judged as (
    select
        contrast_id,
        measure,
        status,
        threshold
    from marts.fct_findings
    where measure in ('readability_gap', 'hedging_gap')
)

select
    gaps.outcome,
    gaps.attribute,
    gaps.group_name,
    gaps.reference_group,
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
    gaps.n_units
from marts.fct_text_gaps as gaps
left join judged on gaps.contrast_id = judged.contrast_id and judged.measure = gaps.outcome || '_gap'
where
    gaps.run_id = $run_id
    and gaps.mitigation = 'plain'
order by gaps.is_crossed, gaps.attribute, gaps.outcome desc, gaps.adjusted_gap desc, gaps.group_name
