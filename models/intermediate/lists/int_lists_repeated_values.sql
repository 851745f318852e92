{{ config(materialized="by_run") }}

{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order_of_list = "order by other_prompt_id, other_trial" %}
{%- set order = "order by prompt_id, trial, other_prompt_id, other_trial" %}

with

pairs as (
    select *
    from {{ run_rows("int_lists_similarities") }}
),

-- Each list of a question that was asked more than once, and what it is compared with: a neutral list with the others
-- of its own prompt, any other with the neutral lists.
compared_lists as (
    select
        run_id,
        mitigation,
        scheme,
        domain,
        subject,
        is_neutral,
        question_key,
        n_reruns,
        prompt_id,
        trial,
        case when is_neutral then template else neutral end as neutral,
        avg(jaccard {{ order_of_list }}) as jaccard,
        avg(serp {{ order_of_list }}) as serp,
        avg(prag {{ order_of_list }}) as prag,
        avg(serp_code {{ order_of_list }}) as serp_code,
        avg(prag_code {{ order_of_list }}) as prag_code
    from pairs
    where
        n_reruns > 1
        and role = if(is_neutral, 'rerun', 'neutral')
    group by all
),

keyed_lists as (
    select
        {{ rerun_key("compared_lists") }} as values_key,
        *
    from compared_lists
),

-- One question measures a subject's noise: its neutral prompt if that was repeated, otherwise the most repeated
-- question.
chosen_lists as (
    select *
    from keyed_lists
    qualify
        question_key = first_value(question_key) over (
            partition by values_key, subject order by is_neutral desc, n_reruns desc, question_key asc
        )
),

judged_neutrals as (
    select
        run_id,
        mitigation,
        scheme,
        neutral
    from {{ run_rows("int_lists_group_values") }}
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
    from chosen_lists
    where (run_id, mitigation, scheme, neutral) in (select judged_neutrals.* from judged_neutrals)
),

-- The noise floor: how alike a subject's lists are when one and the same question is asked again.
rerun_similarities as (
    select
        subject_key,
        mitigation,
        scheme,
        avg(jaccard {{ order }}) as rerun_similarity
    from pairs
    where
        role = 'rerun'
        and is_included
        and (run_id, mitigation, scheme, question_key) in (select floor_questions.* from floor_questions)
    group by subject_key, mitigation, scheme
),

-- The published threshold is one of Jaccard similarity.
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
        avg(jaccard {{ order }}) as similarity
    from pairs
    where
        role = 'clean'
        and is_included
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

repeated_values as (
    select
        'rerun' as kind,
        chosen_lists.* exclude (is_neutral, n_reruns),
        row_number() over (partition by values_key, subject order by prompt_id, trial) as rerun
    from chosen_lists
    union all by name
    select
        'wording' as kind,
        cast(worded.list_set_id as varchar) as values_key,
        worded.*,
        rerun_similarities.rerun_similarity
    from worded
    left join rerun_similarities
        on
            worded.subject_key = rerun_similarities.subject_key
            and worded.mitigation = rerun_similarities.mitigation
            and worded.scheme = rerun_similarities.scheme
)

-- Integer codes are for the Python models.
select
    * exclude (subject_key) replace (cast(rerun as integer) as rerun),
    cast(dense_rank() over (partition by values_key order by subject) - 1 as integer) as subject_id
from repeated_values
