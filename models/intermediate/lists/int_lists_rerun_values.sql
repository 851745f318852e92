{{ config(materialized="by_run") }}

{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order = "order by other_prompt_id, other_trial" %}

with

pairs as (
    select *
    from {{ run_rows("int_lists_compared_pairs") }}
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
        avg(jaccard {{ order }}) as jaccard,
        avg(serp {{ order }}) as serp,
        avg(prag {{ order }}) as prag,
        avg(serp_code {{ order }}) as serp_code,
        avg(prag_code {{ order }}) as prag_code
    from pairs
    where
        n_reruns > 1
        and role = if(is_neutral, 'rerun', 'neutral')
    group by all
),

keyed_lists as (
    select
        {{ rerun_key("compared_lists") }} as rerun_key,
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
            partition by rerun_key, subject order by is_neutral desc, n_reruns desc, question_key asc
        )
),

rerun_values as (
    select
        * exclude (is_neutral, n_reruns),
        row_number() over (partition by rerun_key, subject order by prompt_id, trial) as rerun
    from chosen_lists
)

select * from rerun_values
