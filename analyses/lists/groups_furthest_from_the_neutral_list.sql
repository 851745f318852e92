-- Whose lists keep least of what everybody is offered? The similarity of each group, and how much of that is chance or
-- the model's own unsteadiness.
{{ config(enabled='lists' in env_var('BIASLEDGER_METHODS', 'lists')) }}

with

group_similarity as (
    select *
    from {{ ref("fct_group_similarity") }}
    where similarity_name = 'jaccard'
),

similarity_spread as (
    select *
    from {{ ref("fct_similarity_spread") }}
    where is_judged
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
    group_similarity.mitigation,
    group_similarity.domain,
    group_similarity.attribute,
    group_similarity.group_name,
    group_similarity.similarity,
    group_similarity.n_absent as n_without_a_list,
    similarity_spread.snsr,
    similarity_spread.snsr_chance as snsr_by_chance,
    similarity_spread.snsr_noise_floor_high as snsr_of_asking_again,
    similarity_spread.snsr_p_value as p_value
from group_similarity
inner join runs on group_similarity.run_id = runs.run_id
inner join similarity_spread
    on
        group_similarity.list_set_id = similarity_spread.list_set_id
        and group_similarity.neutral = similarity_spread.neutral
        and group_similarity.similarity_name = similarity_spread.similarity_name
order by
    group_similarity.similarity, runs.audit, runs.target, group_similarity.mitigation, group_similarity.domain,
    group_similarity.attribute, group_similarity.group_name
