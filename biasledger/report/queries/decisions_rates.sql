-- Selection rates and impact ratios, as the rules to New York City's Local Law 144 ask for them.
select
    domain,
    attribute,
    group_name,
    n_people,
    n_selected,
    selection_rate,
    impact_ratio,
    impact_ratio_low,
    impact_ratio_high,
    is_below_four_fifths,
    excluded_reason
from marts.fct_decision_rates
where
    run_id = $run_id
    and variant = 'plain'
order by domain, attribute like '%*%', attribute, impact_ratio desc nulls last, group_name
