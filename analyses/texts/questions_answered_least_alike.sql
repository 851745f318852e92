-- Which questions get answers that differ most by group?
{{ config(enabled='texts' in env_var('BIASLEDGER_METHODS', 'texts')) }}

with

similarity as (
    select
        contrast_id,
        scheme
    from {{ ref("fct_text_similarity") }}
    where is_judged
),

questions as (
    select *
    from {{ ref("fct_text_questions") }}
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
    questions.mitigation,
    questions.attribute,
    questions.group_name,
    questions.reference_group,
    questions.question,
    questions.similarity_between as similarity_of_both_groups,
    (questions.similarity_marked + questions.similarity_reference) / 2 as similarity_inside_a_group,
    questions.similarity_gap as less_alike_by,
    questions.pair_similarity as similarity_of_the_least_alike,
    questions.marked_prompt_id as prompt_of_the_group,
    questions.marked_trial as trial_of_the_group,
    questions.reference_prompt_id as prompt_of_the_reference,
    questions.reference_trial as trial_of_the_reference
from questions
inner join similarity
    on
        questions.contrast_id = similarity.contrast_id
        and questions.scheme = similarity.scheme
inner join runs on questions.run_id = runs.run_id
order by
    less_alike_by desc nulls last, runs.audit asc, runs.target asc, questions.mitigation asc, questions.attribute asc,
    questions.group_name asc, questions.question asc
