-- Are uncertain recommendations worse ones? The correlation over subjects of excess bits and relevance.
{{ config(enabled='lists' in env_var('BIASLEDGER_METHODS', 'lists')) }}

-- Null without a table of relevant items.
with

entropies as (
    select *
    from {{ ref("fct_recommendation_entropy") }}
    where
        pool = 'neutral'
        and scheme = 'items'
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

-- Ranks, as one very uncertain subject would decide a correlation of the numbers themselves.
ranked as (
    select
        *,
        rank() over (
            partition by run_id, mitigation, domain, asked_about order by excess_entropy asc
        ) as first_entropy_rank,
        rank() over (
            partition by run_id, mitigation, domain, asked_about order by excess_entropy desc
        ) as last_entropy_rank,
        rank() over (
            partition by run_id, mitigation, domain, asked_about order by mean_ndcg asc
        ) as first_ndcg_rank,
        rank() over (
            partition by run_id, mitigation, domain, asked_about order by mean_ndcg desc
        ) as last_ndcg_rank
    from entropies
    where mean_ndcg is not null
),

-- Ties get the mean of their ranks, which is that of both ends but for a constant.
correlated as (
    select
        run_id,
        mitigation,
        domain,
        asked_about,
        count(*) as n_subjects,
        corr(first_entropy_rank - last_entropy_rank, first_ndcg_rank - last_ndcg_rank) as rank_correlation
    from ranked
    group by run_id, mitigation, domain, asked_about
),

summed as (
    select
        run_id,
        mitigation,
        domain,
        asked_about,
        count(*) as n_subjects,
        avg(excess_entropy order by excess_entropy) as mean_excess_entropy,
        avg(mean_precision order by mean_precision) as mean_precision,
        avg(mean_ndcg order by mean_ndcg) as mean_ndcg
    from entropies
    group by run_id, mitigation, domain, asked_about
)

select
    runs.audit,
    runs.target,
    summed.mitigation,
    summed.domain,
    summed.asked_about,
    summed.n_subjects,
    coalesce(correlated.n_subjects, 0) as n_subjects_with_relevance,
    summed.mean_excess_entropy,
    summed.mean_precision,
    summed.mean_ndcg,
    correlated.rank_correlation
from summed
inner join runs on summed.run_id = runs.run_id
left join correlated
    on
        summed.run_id = correlated.run_id
        and summed.mitigation = correlated.mitigation
        and summed.domain = correlated.domain
        and summed.asked_about = correlated.asked_about
order by runs.audit, runs.target, summed.mitigation, summed.domain, summed.asked_about
