-- The mix of labels that each group gets.
select
    domain,
    attribute,
    group_name,
    label,
    share,
    n_people
from marts.fct_decision_labels
where
    run_id = $run_id
    and mitigation = 'plain'
order by domain, attribute like '%*%', attribute, label_position, group_name
