{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order = "order by prompt_id, trial, other_prompt_id, other_trial" %}

with

-- The published threshold is one of Jaccard similarity.
compared as (
    select
        * exclude (neutral),
        jaccard as similarity
    from {{ ref("int_lists_compared_pairs") }}
    where is_kept
),

judged_neutrals as (
    select
        run_id,
        mitigation,
        scheme,
        neutral
    from {{ ref("int_lists_group_values") }}
    where
        is_judged_neutral
        and wording = 'clean'
),

floor_questions as (
    select
        run_id,
        mitigation,
        scheme,
        question_key
    from {{ ref("int_lists_rerun_values") }}
    where (run_id, mitigation, scheme, neutral) in (select judged_neutrals.* from judged_neutrals)
),

-- The noise floor: how alike a subject's lists are when one and the same question is asked again.
rerun_similarities as (
    select
        subject_key,
        mitigation,
        scheme,
        avg(similarity {{ order }}) as rerun_similarity
    from compared
    where
        role = 'rerun'
        and (run_id, mitigation, scheme, question_key) in (select floor_questions.* from floor_questions)
    group by subject_key, mitigation, scheme
),

worded_by_attribute as (
    select
        list_set_id,
        run_id,
        mitigation,
        scheme,
        wording,
        domain,
        attribute,
        subject,
        subject_key,
        avg(similarity {{ order }}) as similarity
    from compared
    where role = 'clean'
    group by all
),

worded as (
    select * from worded_by_attribute
    union all by name
    select
        {{ list_set_id("worded_by_attribute", attribute="'(all)'") }} as list_set_id,
        run_id,
        mitigation,
        scheme,
        wording,
        domain,
        '(all)' as attribute,
        subject,
        subject_key,
        avg(similarity order by attribute) as similarity
    from worded_by_attribute
    group by all
),

robustness_values as (
    select
        worded.*,
        rerun_similarities.rerun_similarity
    from worded
    left join rerun_similarities
        on
            worded.subject_key = rerun_similarities.subject_key
            and worded.mitigation = rerun_similarities.mitigation
            and worded.scheme = rerun_similarities.scheme
)

select * from robustness_values
