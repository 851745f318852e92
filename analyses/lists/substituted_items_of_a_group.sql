-- Which items does a group get instead? The ten that its lists hold more often than neutral ones, and ten less often.
{{ config(enabled='lists' in env_var('BIASLEDGER_METHODS', 'lists')) }}

-- p is adjusted for all items of the group.
with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

ranked as (
    select
        *,
        row_number() over (
            partition by run_id, mitigation, domain, attribute, group_name
            order by difference desc, item asc
        ) as rank_from_above,
        row_number() over (
            partition by run_id, mitigation, domain, attribute, group_name
            order by difference asc, item asc
        ) as rank_from_below
    from {{ ref("fct_substituted_items") }}
)

select
    runs.audit,
    runs.target,
    ranked.mitigation,
    ranked.domain,
    ranked.attribute,
    ranked.group_name,
    case when ranked.difference > 0 then 'more often' else 'less often' end as direction,
    case when ranked.difference > 0 then ranked.rank_from_above else ranked.rank_from_below end as item_rank,
    ranked.item,
    ranked.n_subjects,
    ranked.lists_of_group,
    ranked.neutral_lists,
    ranked.difference,
    ranked.p_value_adjusted as p_adjusted
from ranked
inner join runs on ranked.run_id = runs.run_id
where
    (ranked.difference > 0 and ranked.rank_from_above <= 10)
    or (ranked.difference < 0 and ranked.rank_from_below <= 10)
order by
    runs.audit asc, runs.target asc, ranked.mitigation asc, ranked.domain asc, ranked.attribute asc,
    ranked.group_name asc, direction desc, item_rank asc
