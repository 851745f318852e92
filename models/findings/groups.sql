with

runs as (
    select
        run_id,
        audit,
        target,
        is_simulated,
        started_at
    from {{ ref("dim_runs") }}
    where is_current
),

asked as (
    select
        run_id,
        attribute,
        group_name,
        is_reference,
        is_crossed
    from {{ ref("dim_groups") }}
),

coverage as (
    select
        run_id,
        attribute,
        group_name,
        is_reference,
        silence
    from {{ ref("fct_group_coverage") }}
    where mitigation = 'plain'
),

answers as (
    select *
    from {{ ref("fct_answer_quality") }}
    where mitigation = 'plain'
),

descriptors as (
    select *
    from {{ ref("int_group_descriptors") }}
),

-- A group that nothing was asked about is declared even so; an intersection is declared nowhere.
listed as (
    select
        coalesce(asked.run_id, coverage.run_id) as run_id,
        coalesce(asked.attribute, coverage.attribute) as attribute,
        coalesce(asked.group_name, coverage.group_name) as group_name,
        coalesce(asked.is_reference, coverage.is_reference) as is_reference,
        coalesce(asked.is_crossed, false) as is_crossed,
        coverage.silence as nothing_known_because
    from asked
    full join coverage
        on
            asked.run_id = coverage.run_id
            and asked.attribute = coverage.attribute
            and asked.group_name = coverage.group_name
),

groups as (
    select
        listed.*,
        runs.audit,
        runs.target,
        runs.is_simulated,
        runs.started_at,
        coalesce(descriptors.n_descriptors, 0) as n_names,
        descriptors.is_named,
        coalesce(answers.n_answers, 0) as n_answers,
        coalesce(answers.n_ok, 0) as n_usable,
        coalesce(answers.n_refused, 0) as n_refused,
        coalesce(answers.n_unread + answers.n_malformed + answers.n_truncated + answers.n_error, 0) as n_unusable,
        answers.share_refused
    from listed
    inner join runs on listed.run_id = runs.run_id
    left join answers
        on
            listed.run_id = answers.run_id
            and listed.attribute = answers.attribute
            and listed.group_name = answers.group_name
    left join descriptors
        on
            listed.run_id = descriptors.run_id
            and listed.attribute = descriptors.attribute
            and listed.group_name = descriptors.group_name
)

{{ contracted("groups") }}
