-- Sim_a: how much of the neutral list each group's lists keep, next to the model's own noise.
with

judged as (
    select
        contrast_id,
        finding_id,
        scheme as similarity_name,
        subject as domain,
        status
    from marts.fct_findings
    where
        run_id = $run_id
        and mitigation = 'plain'
        and measure = 'snsr'
),

-- The same question asked again, the model's own noise.
reruns as (
    select
        scheme,
        domain,
        avg(jaccard) as jaccard,
        avg(serp) as serp,
        avg(prag) as prag,
        avg(serp_code) as serp_code,
        avg(prag_code) as prag_code
    from marts.fct_list_similarity
    where
        run_id = $run_id
        and mitigation = 'plain'
        and wording = 'clean'
        and role = 'rerun'
    group by all
)

select
    spread.domain,
    spread.attribute,
    similarities.group_name,
    judged.finding_id,
    judged.status,
    similarities.similarity_name,
    similarities.similarity,
    similarities.interval_low,
    similarities.interval_high,
    similarities.n_subjects,
    similarities.n_absent,
    case similarities.similarity_name
        when 'jaccard' then reruns.jaccard
        when 'serp' then reruns.serp
        when 'prag' then reruns.prag
        when 'serp_code' then reruns.serp_code
        when 'prag_code' then reruns.prag_code
    end as rerun_similarity,
    spread.snsr_noise_floor_high as noise_floor_high,
    similarities.group_name in (spread.most_similar_group, spread.least_similar_group) as is_farthest
from marts.fct_group_similarity as similarities
inner join marts.fct_similarity_spread as spread using (list_set_id, neutral, similarity_name)
inner join judged
    on
        spread.contrast_id = judged.contrast_id
        and spread.domain = judged.domain
        and spread.similarity_name = judged.similarity_name
left join reruns
    on
        spread.scheme = reruns.scheme
        and spread.domain = reruns.domain
where
    spread.is_judged
    and spread.wording = 'clean'
order by
    judged.status = 'alarm' desc,
    spread.attribute like '%*%',
    spread.snsr_debiased desc,
    spread.domain,
    spread.attribute,
    similarities.similarity desc,
    similarities.group_name
