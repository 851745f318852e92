-- Mean price level of what each group or place gets, the dearest first.
select
    means.attribute,
    means.group_name,
    means.reference_group,
    findings.finding_id,
    -- The gap of a group is judged; of groups without a reference only the distance from the dearest to the cheapest.
    if(findings.measure = 'price_gap', findings.status, null) as status,
    means.rank_from_dearest,
    means.mean_price_level,
    means.interval_low,
    means.interval_high,
    means.gap,
    means.p_value_adjusted,
    means.is_reference,
    means.n_items,
    runs.noun_items
from marts.fct_mean_price_levels as means
inner join marts.dim_runs as runs on means.run_id = runs.run_id
left join marts.fct_findings as findings
    on
        means.contrast_id = findings.contrast_id
        and findings.measure in ('price_gap', 'price_spread')
where
    means.run_id = $run_id
    and means.mitigation = 'plain'
    and means.domain = '(all)'
order by means.is_crossed, means.attribute, means.rank_from_dearest, means.group_name
