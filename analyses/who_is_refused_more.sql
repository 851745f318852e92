-- Who gets refused more? Share of questions about each group that were refused or not answered as asked, beside that
-- of its reference group.
with

answer_quality as (
    select *
    from {{ ref("fct_answer_quality") }}
),

groups as (
    select
        run_id,
        attribute,
        group_name,
        is_reference
    from {{ ref("dim_groups") }}
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

reference_groups as (
    select
        answer_quality.run_id,
        answer_quality.variant,
        answer_quality.attribute,
        answer_quality.group_name,
        answer_quality.share_refused,
        answer_quality.share_ok
    from answer_quality
    inner join groups
        on
            answer_quality.run_id = groups.run_id
            and answer_quality.attribute = groups.attribute
            and answer_quality.group_name = groups.group_name
    where groups.is_reference
),

compared as (
    select
        runs.audit,
        runs.target,
        answer_quality.variant,
        answer_quality.attribute,
        answer_quality.group_name,
        reference_groups.group_name as compared_with,
        answer_quality.n_answers as n_questions,
        answer_quality.n_refused,
        answer_quality.share_refused,
        reference_groups.share_refused as share_refused_of_reference,
        answer_quality.share_refused - reference_groups.share_refused as refused_more,
        1 - answer_quality.share_ok as share_without_usable_answer,
        reference_groups.share_ok - answer_quality.share_ok as unusable_more
    from answer_quality
    inner join runs on answer_quality.run_id = runs.run_id
    left join reference_groups
        on
            answer_quality.run_id = reference_groups.run_id
            and answer_quality.variant = reference_groups.variant
            and answer_quality.attribute = reference_groups.attribute
            and answer_quality.group_name <> reference_groups.group_name
)

select *
from compared
order by
    refused_more desc nulls last, share_refused desc, unusable_more desc nulls last, audit asc, target asc, variant asc,
    attribute asc, group_name asc
