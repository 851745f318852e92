{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order = "order by pairs.other_prompt_id, pairs.other_trial" %}

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
    select *
    from {{ ref("int_lists_similarities") }}
),

-- Each list of a question that was asked more than once.
repeated_lists as (
    select
        *,
        count(*) over (partition by run_id, variant, scheme, question_key) as n_reruns
    from responses
    qualify n_reruns > 1
),

-- What each is compared with: a neutral list with the others of its own prompt, any other with the neutral lists.
compared_lists as (
    select
        repeated_lists.run_id,
        repeated_lists.lists_key,
        repeated_lists.variant,
        repeated_lists.scheme,
        repeated_lists.domain,
        repeated_lists.subject,
        repeated_lists.is_neutral,
        repeated_lists.question_key,
        repeated_lists.n_reruns,
        repeated_lists.prompt_id,
        repeated_lists.trial,
        case when repeated_lists.is_neutral then repeated_lists.template else pairs.neutral end as neutral,
        avg(similarities.jaccard {{ order }}) as jaccard,
        avg(similarities.serp {{ order }}) as serp,
        avg(similarities.prag {{ order }}) as prag,
        avg(similarities.serp_code {{ order }}) as serp_code,
        avg(similarities.prag_code {{ order }}) as prag_code
    from repeated_lists
    inner join pairs
        on
            repeated_lists.run_id = pairs.run_id
            and repeated_lists.scheme = pairs.scheme
            and repeated_lists.prompt_id = pairs.prompt_id
            and repeated_lists.trial = pairs.trial
            and pairs.role = case when repeated_lists.is_neutral then 'rerun' else 'neutral' end
    inner join similarities
        on
            pairs.lists_key = similarities.lists_key
            and pairs.list_key = similarities.list_key
            and pairs.other_list_key = similarities.other_list_key
    group by all
),

judged_neutrals as (
    select distinct
        run_id,
        variant,
        scheme,
        neutral
    from {{ ref("int_lists_group_values") }}
    where
        is_judged_neutral
        and wording = 'clean'
),

-- A subject's noise is told by one question: its neutral prompt if that was repeated, otherwise what was asked most.
chosen_questions as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        domain,
        subject,
        first(question_key order by is_neutral desc, n_reruns desc, question_key asc) as question_key
    from compared_lists
    group by run_id, variant, scheme, neutral, domain, subject
),

rerun_values as (
    select
        compared_lists.*,
        {{ rerun_key("compared_lists") }} as rerun_key,
        judged_neutrals.neutral is not null as is_judged_neutral,
        row_number() over (
            partition by
                compared_lists.run_id, compared_lists.variant, compared_lists.scheme, compared_lists.neutral,
                compared_lists.domain, compared_lists.subject
            order by compared_lists.prompt_id, compared_lists.trial
        ) as rerun
    from compared_lists
    inner join chosen_questions
        on
            compared_lists.run_id = chosen_questions.run_id
            and compared_lists.variant = chosen_questions.variant
            and compared_lists.scheme = chosen_questions.scheme
            and compared_lists.neutral = chosen_questions.neutral
            and compared_lists.domain = chosen_questions.domain
            and compared_lists.subject is not distinct from chosen_questions.subject
            and compared_lists.question_key = chosen_questions.question_key
    left join judged_neutrals
        on
            compared_lists.run_id = judged_neutrals.run_id
            and compared_lists.variant = judged_neutrals.variant
            and compared_lists.scheme = judged_neutrals.scheme
            and compared_lists.neutral = judged_neutrals.neutral
)

select * from rerun_values
