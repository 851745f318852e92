-- Who gets refused more? Refused, unusable and failed answers about each group; groups without any answer first.
with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

coverage as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        silence
    from {{ ref("fct_group_coverage") }}
),

verdicts as (
    select
        contrast_id,
        scheme,
        status,
        p_value_adjusted
    from {{ ref("fct_findings") }}
    where measure = 'answer_gap'
),

gaps as (
    select
        answer_gaps.*,
        verdicts.status,
        verdicts.p_value_adjusted
    from {{ ref("fct_answer_gaps") }} as answer_gaps
    left join verdicts
        on
            answer_gaps.contrast_id = verdicts.contrast_id
            and answer_gaps.scheme = verdicts.scheme
),

refused as (
    select *
    from gaps
    where scheme = 'refused'
),

unusable as (
    select *
    from gaps
    where scheme = 'unusable'
),

failed as (
    select *
    from gaps
    where scheme = 'failed'
),

-- Where every question failed, no answer could be refused.
compared as (
    select
        failed.run_id,
        failed.mitigation,
        failed.attribute,
        failed.group_name,
        failed.reference_group,
        refused.n_marked as n_questions,
        refused.n_marked_events as n_refused,
        refused.share_marked as share_refused,
        refused.share_reference as share_refused_of_these,
        refused.adjusted_gap as refused_more,
        refused.interval_low,
        refused.interval_high,
        refused.p_value_adjusted,
        refused.status,
        unusable.share_marked as share_unusable,
        unusable.share_reference as share_unusable_of_these,
        unusable.adjusted_gap as unusable_more,
        unusable.status as status_of_unusable,
        failed.share_marked as share_failed,
        failed.share_reference as share_failed_of_these,
        failed.adjusted_gap as failed_more,
        failed.status as status_of_failed
    from failed
    left join refused on failed.contrast_id = refused.contrast_id
    left join unusable on failed.contrast_id = unusable.contrast_id
),

-- A group without a row in the file has no gap, and is there even so.
listed as (
    select
        coalesce(compared.run_id, coverage.run_id) as run_id,
        coalesce(compared.mitigation, coverage.mitigation) as mitigation,
        coalesce(compared.attribute, coverage.attribute) as attribute,
        coalesce(compared.group_name, coverage.group_name) as group_name,
        compared.reference_group,
        compared.n_questions,
        compared.n_refused,
        compared.share_refused,
        compared.share_refused_of_these,
        compared.refused_more,
        compared.interval_low,
        compared.interval_high,
        compared.p_value_adjusted,
        compared.status,
        compared.share_unusable,
        compared.share_unusable_of_these,
        compared.unusable_more,
        compared.status_of_unusable,
        compared.share_failed,
        compared.share_failed_of_these,
        compared.failed_more,
        compared.status_of_failed,
        coverage.silence
    from compared
    full join coverage
        on
            compared.run_id = coverage.run_id
            and compared.mitigation = coverage.mitigation
            and compared.attribute = coverage.attribute
            and compared.group_name = coverage.group_name
    where
        compared.run_id is not null
        or coverage.silence is not null
)

select
    runs.audit,
    runs.target,
    listed.mitigation,
    listed.attribute,
    listed.group_name,
    listed.reference_group,
    listed.silence as nothing_is_known_because,
    listed.n_questions,
    listed.n_refused,
    listed.share_refused,
    listed.share_refused_of_these,
    listed.refused_more,
    listed.interval_low,
    listed.interval_high,
    listed.p_value_adjusted,
    listed.status,
    listed.share_unusable,
    listed.share_unusable_of_these,
    listed.unusable_more,
    listed.status_of_unusable,
    listed.share_failed,
    listed.share_failed_of_these,
    listed.failed_more,
    listed.status_of_failed
from listed
inner join runs on listed.run_id = runs.run_id
order by
    listed.silence is not null desc, listed.refused_more desc nulls last, listed.unusable_more desc nulls last,
    listed.failed_more desc nulls last,
    runs.audit asc, runs.target asc, listed.mitigation asc, listed.attribute asc, listed.group_name asc
