-- How sure is the model of its recommendations? 0 excess bits mean one list every time.
{{ config(enabled='lists' in env_var('BIASLEDGER_METHODS', 'lists')) }}

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
)

select
    runs.audit,
    runs.target,
    entropies.domain,
    entropies.asked_about,
    count(*) as n_subjects,
    avg(entropies.entropy) as mean_entropy,
    avg(entropies.excess_entropy) as mean_excess_entropy,
    avg(entropies.mean_jaccard) as mean_jaccard,
    avg(entropies.share_identical) as share_identical
from entropies
inner join runs on entropies.run_id = runs.run_id
group by runs.audit, runs.target, entropies.domain, entropies.asked_about
order by
    mean_excess_entropy desc nulls last, runs.audit asc, runs.target asc, entropies.domain asc,
    entropies.asked_about asc
