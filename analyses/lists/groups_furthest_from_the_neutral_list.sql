{{ config(enabled='lists' in env_var('BIASLEDGER_ROOMS', 'words lists decisions prices markers')) }}

-- Which groups' lists keep least of what everybody is offered, and how much of that is the model's own unsteadiness.
select
    group_similarity.domain,
    group_similarity.attribute,
    group_similarity.group_name,
    group_similarity.similarity,
    group_similarity.n_absent,
    similarity_spread.snsr,
    similarity_spread.snsr_noise_floor_high,
    similarity_spread.snsr_p_value
from {{ ref("fct_group_similarity") }} as group_similarity
inner join {{ ref("fct_similarity_spread") }} as similarity_spread
    on
        group_similarity.run_id = similarity_spread.run_id
        and group_similarity.variant = similarity_spread.variant
        and group_similarity.scheme = similarity_spread.scheme
        and group_similarity.neutral = similarity_spread.neutral
        and group_similarity.wording = similarity_spread.wording
        and group_similarity.domain = similarity_spread.domain
        and group_similarity.attribute = similarity_spread.attribute
        and group_similarity.similarity_name = similarity_spread.similarity_name
where
    similarity_spread.is_judged
    and group_similarity.similarity_name = 'jaccard'
order by group_similarity.similarity asc
limit 20
