-- Which cases, such as resumes, get the most different answers under different names?
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

with

consistency as (
    select *
    from {{ ref("fct_prediction_consistency") }}
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

-- The groups of a prompt's person, as "black female"; crossed attributes say it again.
people as (
    select
        prompt_groups.run_id,
        prompt_groups.prompt_id,
        prompt_groups.slot,
        string_agg(prompt_groups.group_name, ' ' order by prompt_groups.attribute desc) as group_names
    from {{ ref("dim_prompt_groups") }} as prompt_groups
    inner join {{ ref("dim_groups") }} as groups
        on
            prompt_groups.run_id = groups.run_id
            and prompt_groups.attribute = groups.attribute
            and prompt_groups.group_name = groups.group_name
    where not groups.is_crossed
    group by prompt_groups.run_id, prompt_groups.prompt_id, prompt_groups.slot
),

group_labels as (
    select
        predictions.run_id,
        predictions.mitigation,
        predictions.template,
        predictions.domain,
        predictions.subject,
        people.group_names,
        predictions.label,
        cast(sum(predictions.weight) as integer) as n
    from {{ ref("fct_predictions") }} as predictions
    inner join people
        on
            predictions.run_id = people.run_id
            and predictions.prompt_id = people.prompt_id
            and predictions.slot = people.slot
    where predictions.label is not null
    group by
        predictions.run_id, predictions.mitigation, predictions.template, predictions.domain, predictions.subject,
        people.group_names, predictions.label
),

group_answers as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        group_names || ': ' || string_agg(n || ' ' || label, ', ' order by n desc, label asc) as answers,
        group_names
    from group_labels
    group by run_id, mitigation, template, domain, subject, group_names
),

answers as (
    select
        run_id,
        mitigation,
        template,
        domain,
        subject,
        string_agg(answers, '; ' order by group_names) as answers_by_group
    from group_answers
    group by run_id, mitigation, template, domain, subject
)

select
    runs.audit,
    runs.target,
    consistency.mitigation,
    consistency.template,
    consistency.domain as job,
    consistency.subject as resume,
    consistency.n_predictions as n_answers,
    consistency.n_distinct_predictions as n_different_answers,
    consistency.n_unknown as n_unreadable,
    consistency.lowest_rank_value as worst_version,
    consistency.highest_rank_value as best_version,
    consistency.highest_rank_value - consistency.lowest_rank_value as apart,
    consistency.is_complete,
    answers.answers_by_group
from consistency
inner join runs on consistency.run_id = runs.run_id
left join answers
    on
        consistency.run_id = answers.run_id
        and consistency.mitigation = answers.mitigation
        and consistency.template = answers.template
        and consistency.domain = answers.domain
        and consistency.subject = answers.subject
where not consistency.is_consistent
order by
    apart desc nulls last, n_different_answers desc, runs.audit asc, runs.target asc, consistency.mitigation asc,
    consistency.template asc, job asc, resume asc
