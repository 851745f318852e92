-- How much more often texts about a group hold a list's markers than texts about the reference group.
select
    attribute,
    group_name,
    reference_group,
    list,
    is_associated,
    difference,
    band_low,
    band_high,
    odds_ratio,
    p_value_adjusted,
    n_marked,
    n_reference
from marts.fct_marker_contrasts
where
    run_id = $run_id
    and mitigation = 'plain'
    and is_judged
order by is_crossed, attribute, group_name, reference_group, difference desc, list
