-- How often each model is right about each group, and how far its labels lie from the right ones, of several models.
with

rates as (
    select
        runs.audit,
        runs.target,
        rates.domain,
        rates.attribute,
        rates.group_name,
        rates.accuracy,
        rates.mean_rank_value as rank_difference
    from marts.fct_decision_rates as rates
    inner join marts.dim_runs as runs using (run_id)
    where
        list_contains($run_ids, rates.run_id)
        and rates.mitigation = 'plain'
        and rates.domain = ''
        and rates.accuracy is not null
    qualify
        count(distinct runs.target) over (partition by runs.audit) > 1
        -- Intersections name all groups, where the audit has them.
        and rates.attribute like '%*%' = max(rates.attribute like '%*%') over (partition by runs.audit)
)

select
    audit,
    attribute,
    outcome,
    group_name,
    target,
    value
from rates
unpivot (value for outcome in (accuracy, rank_difference))
order by audit, attribute, outcome, group_name, target
