-- How often a group's version of a case stands above or below the mean of all versions of it.
select
    attribute,
    group_name,
    n_predictions,
    n_promotions,
    n_demotions,
    net,
    n_promotions / nullif(n_predictions, 0) as share_promoted,
    n_demotions / nullif(n_predictions, 0) as share_demoted
from marts.fct_promotions
where
    run_id = $run_id
    and mitigation = 'plain'
order by attribute like '%*%', attribute, net desc, group_name
