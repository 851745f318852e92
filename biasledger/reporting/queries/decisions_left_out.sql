-- Whom selection rates and impact ratios leave out, and why.
select
    domain,
    attribute,
    group_name,
    reason,
    n_people
from marts.fct_decisions_left_out
where
    run_id = $run_id
    and mitigation = 'plain'
order by domain, attribute like '%*%', attribute, group_name, reason
