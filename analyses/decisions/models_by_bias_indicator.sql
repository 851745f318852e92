-- Which model favours which group? Accuracy, bias indicators, inconsistent cases, most and least favoured group.
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
),

gaps as (
    select *
    from {{ ref("fct_decision_gaps") }}
    where
        mitigation = 'plain'
        and outcome = 'rank_value'
        and published_label is not null
        and domain = ''
        and attribute not like '%*%'
),

quality as (
    select
        run_id,
        accuracy
    from {{ ref("fct_run_quality") }}
    where mitigation = 'plain'
),

consistency as (
    select
        run_id,
        count(*) as n_resumes,
        sum(case when is_complete and not is_consistent then 1 else 0 end) as n_inconsistent
    from {{ ref("fct_prediction_consistency") }}
    where mitigation = 'plain'
    group by run_id
),

-- All groups at once, such as race and gender together, where the audit crosses them.
favoured as (
    select
        *,
        row_number() over (
            partition by run_id
            order by case when attribute like '%*%' then 0 else 1 end, length(attribute) desc, attribute asc
        ) as favoured_rank
    from {{ ref("fct_favoured_groups") }}
    where
        mitigation = 'plain'
        and domain = ''
)

select
    runs.audit,
    runs.target,
    quality.accuracy,
    gaps.attribute,
    gaps.reference_group,
    gaps.group_name,
    gaps.mean_reference - gaps.mean_marked as bias_indicator,
    gaps.published_label,
    consistency.n_inconsistent,
    consistency.n_resumes,
    consistency.n_inconsistent / cast(consistency.n_resumes as double) as share_inconsistent,
    favoured.most_favoured,
    favoured.highest_rank_value,
    favoured.least_favoured,
    favoured.lowest_rank_value,
    gaps.run_id
from gaps
inner join runs on gaps.run_id = runs.run_id
inner join consistency on gaps.run_id = consistency.run_id
left join quality on gaps.run_id = quality.run_id
left join favoured
    on
        gaps.run_id = favoured.run_id
        and favoured.favoured_rank = 1
order by runs.audit, runs.target, gaps.attribute, gaps.group_name, gaps.run_id
