-- How much more often texts about a group hold a list's markers than texts about the reference group.
select
    contrasts.attribute,
    contrasts.group_name,
    contrasts.reference_group,
    findings.finding_id,
    contrasts.list,
    contrasts.is_associated,
    contrasts.difference,
    contrasts.band_low as interval_low,
    contrasts.band_high as interval_high,
    contrasts.odds_ratio,
    contrasts.p_value_adjusted,
    contrasts.n_marked,
    contrasts.n_reference
from marts.fct_marker_contrasts as contrasts
left join marts.fct_findings as findings
    on
        contrasts.contrast_id = findings.contrast_id
        and contrasts.scheme = findings.scheme
        and findings.measure = 'marker_association'
where
    contrasts.run_id = $run_id
    and contrasts.mitigation = 'plain'
    and contrasts.is_judged
order by
    contrasts.is_crossed, contrasts.attribute, contrasts.group_name, contrasts.reference_group,
    contrasts.difference desc, contrasts.list
