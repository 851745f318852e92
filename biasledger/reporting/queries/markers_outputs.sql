-- How many single outputs pass, fail and are skipped by the guide's rule, in all and by category.
select
    if(grouping(category) = 1, 'all categories', category) as category,
    count(*) as total,
    count(*) filter (where published_outcome = 'passed') as passed,
    count(*) filter (where published_outcome = 'failed') as failed,
    count(*) filter (where published_outcome = 'skipped') as skipped,
    passed / nullif(passed + failed, 0) as pass_rate,
    avg(stereotype_ratio order by stereotype_ratio) as mean_stereotype_ratio
from marts.fct_stereotype_scores
where
    run_id = $run_id
    and mitigation = 'plain'
    and is_judged
group by rollup(category)
having count(*) > 0
order by grouping(category) desc, category
