{{ config(enabled='lists' in env_var('BIASLEDGER_ROOMS', 'words lists decisions prices markers')) }}

-- How sure the model is of its recommendations: 0 excess bits and a Jaccard similarity of 1 mean one list every time.
select
    run_id,
    domain,
    asked_about,
    count(*) as n_subjects,
    avg(entropy) as mean_entropy,
    avg(excess_entropy) as mean_excess_entropy,
    avg(mean_jaccard) as mean_jaccard,
    avg(share_identical) as share_identical
from {{ ref("fct_recommendation_entropy") }}
where
    pool = 'neutral'
    and scheme = 'items'
group by run_id, domain, asked_about
order by mean_excess_entropy desc
