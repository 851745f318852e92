{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order = "order by prompt_id, trial, other_prompt_id, other_trial" %}

with

responses as (
    select *
    from {{ ref("int_lists_responses") }}
    where has_list
),

pairs as (
    select *
    from {{ ref("int_lists_pairs") }}
),

similarities as (
    select
        lists_key,
        list_key,
        other_list_key,
        jaccard
    from {{ ref("int_lists_similarities") }}
),

floor_questions as (
    select distinct
        run_id,
        variant,
        scheme,
        question_key
    from {{ ref("int_lists_rerun_values") }}
    where is_judged_neutral
),

compared as (
    select
        responses.run_id,
        responses.variant,
        responses.scheme,
        responses.wording,
        responses.domain,
        responses.subject,
        responses.attribute,
        responses.question_key,
        pairs.role,
        pairs.prompt_id,
        pairs.trial,
        pairs.other_prompt_id,
        pairs.other_trial,
        -- The published threshold is one of Jaccard similarity.
        similarities.jaccard as similarity
    from pairs
    inner join responses
        on
            pairs.run_id = responses.run_id
            and pairs.scheme = responses.scheme
            and pairs.prompt_id = responses.prompt_id
            and pairs.trial = responses.trial
    inner join similarities
        on
            pairs.lists_key = similarities.lists_key
            and pairs.list_key = similarities.list_key
            and pairs.other_list_key = similarities.other_list_key
    where
        pairs.role in ('rerun', 'clean')
        and pairs.is_kept
),

-- The noise floor: how alike a subject's lists are when one and the same question is asked again.
rerun_similarities as (
    select
        compared.run_id,
        compared.variant,
        compared.scheme,
        compared.domain,
        compared.subject,
        avg(
            compared.similarity
            order by compared.prompt_id, compared.trial, compared.other_prompt_id, compared.other_trial
        ) as rerun_similarity
    from compared
    inner join floor_questions
        on
            compared.run_id = floor_questions.run_id
            and compared.variant = floor_questions.variant
            and compared.scheme = floor_questions.scheme
            and compared.question_key = floor_questions.question_key
    where compared.role = 'rerun'
    group by compared.run_id, compared.variant, compared.scheme, compared.domain, compared.subject
),

worded_by_attribute as (
    select
        run_id,
        variant,
        scheme,
        wording,
        domain,
        attribute,
        subject,
        avg(similarity {{ order }}) as similarity
    from compared
    where role = 'clean'
    group by run_id, variant, scheme, wording, domain, attribute, subject
),

worded as (
    select * from worded_by_attribute
    union all by name
    select
        run_id,
        variant,
        scheme,
        wording,
        domain,
        '(all)' as attribute,
        subject,
        avg(similarity order by attribute) as similarity
    from worded_by_attribute
    group by run_id, variant, scheme, wording, domain, subject
),

robustness_values as (
    select
        worded.*,
        rerun_similarities.rerun_similarity
    from worded
    left join rerun_similarities
        on
            worded.run_id = rerun_similarities.run_id
            and worded.variant = rerun_similarities.variant
            and worded.scheme = rerun_similarities.scheme
            and worded.domain = rerun_similarities.domain
            and worded.subject = rerun_similarities.subject
)

select * from robustness_values
