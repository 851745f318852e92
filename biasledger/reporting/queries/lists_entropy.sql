-- Entropy of the items that one question gets when it is asked again, beyond a list that never changes; over subjects.
select
    domain,
    asked_about,
    group_name,
    avg(excess_entropy) as excess_entropy,
    min(excess_entropy) as least,
    max(excess_entropy) as most,
    avg(share_identical) as share_identical,
    sum(n_lists) as n_lists,
    count(*) as n_subjects
from marts.fct_recommendation_entropy
where
    run_id = $run_id
    and mitigation = 'plain'
    and scheme = 'items'
    and pool <> 'perturbed wordings'
    and excess_entropy is not null
group by domain, asked_about, group_name
order by domain, excess_entropy desc, asked_about, group_name
