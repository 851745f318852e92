-- How many cases got different answers in versions that differ in the group alone, by kind of case.
select
    consistency.domain,
    runs.noun_case,
    runs.noun_cases,
    count(*) as n_cases,
    count(*) filter (where not consistency.is_consistent) as n_inconsistent,
    avg(cast(not consistency.is_consistent as integer)) as share_inconsistent
from marts.fct_prediction_consistency as consistency
inner join marts.dim_runs as runs using (run_id)
where
    run_id = $run_id
    and consistency.mitigation = 'plain'
    and consistency.is_complete
    and consistency.is_consistent is not null
group by consistency.domain, runs.noun_case, runs.noun_cases
order by share_inconsistent desc, consistency.domain
