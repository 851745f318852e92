-- Who gets refused more? Refused and unusable answers about each group, beside those of its reference group or of all
-- others.
with

answer_quality as (
    select
        *,
        sum(n_answers) over (partition by run_id, variant, attribute) - n_answers as n_answers_of_others,
        sum(n_refused) over (partition by run_id, variant, attribute) - n_refused as n_refused_of_others,
        sum(n_ok) over (partition by run_id, variant, attribute) - n_ok as n_ok_of_others
    from {{ ref("fct_answer_quality") }}
),

reference_groups as (
    select
        run_id,
        attribute,
        group_name
    from {{ ref("dim_groups") }}
    where is_reference
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

-- The reference group itself is beside all the others.
compared as (
    select
        runs.audit,
        runs.target,
        answer_quality.variant,
        answer_quality.attribute,
        answer_quality.group_name,
        coalesce(reference_quality.group_name, '(all others)') as compared_with,
        answer_quality.n_answers as n_questions,
        answer_quality.n_refused,
        answer_quality.share_refused,
        coalesce(
            reference_quality.share_refused,
            answer_quality.n_refused_of_others / cast(nullif(answer_quality.n_answers_of_others, 0) as double)
        ) as share_refused_of_these,
        1 - answer_quality.share_ok as share_without_usable_answer,
        1 - coalesce(
            reference_quality.share_ok,
            answer_quality.n_ok_of_others / cast(nullif(answer_quality.n_answers_of_others, 0) as double)
        ) as share_without_usable_answer_of_these
    from answer_quality
    inner join runs on answer_quality.run_id = runs.run_id
    left join reference_groups
        on
            answer_quality.run_id = reference_groups.run_id
            and answer_quality.attribute = reference_groups.attribute
            and answer_quality.group_name <> reference_groups.group_name
    left join answer_quality as reference_quality
        on
            reference_groups.run_id = reference_quality.run_id
            and reference_groups.attribute = reference_quality.attribute
            and reference_groups.group_name = reference_quality.group_name
            and answer_quality.variant = reference_quality.variant
),

ordered as (
    select
        *,
        share_refused - share_refused_of_these as refused_more,
        share_without_usable_answer - share_without_usable_answer_of_these as without_usable_answer_more
    from compared
)

select *
from ordered
order by
    refused_more desc nulls last, without_usable_answer_more desc nulls last, audit asc, target asc, variant asc,
    attribute asc, group_name asc
