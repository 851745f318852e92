-- Mean price level of what each group or place gets, the dearest first.
select
    attribute,
    group_name,
    reference_group,
    rank_from_dearest,
    mean_price_level,
    interval_low,
    interval_high,
    gap,
    p_value_adjusted,
    is_reference,
    n_items
from marts.fct_mean_price_levels
where
    run_id = $run_id
    and mitigation = 'plain'
    and domain = '(all)'
order by is_crossed, attribute, rank_from_dearest, group_name
