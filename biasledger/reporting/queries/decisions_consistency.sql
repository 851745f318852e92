-- How many cases got different answers in versions that differ in the group alone, by kind of case.
select
    domain,
    count(*) as n_cases,
    count(*) filter (where not is_consistent) as n_inconsistent,
    avg(cast(not is_consistent as integer)) as share_inconsistent
from marts.fct_prediction_consistency
where
    run_id = $run_id
    and mitigation = 'plain'
    and is_complete
    and is_consistent is not null
group by domain
order by share_inconsistent desc, domain
