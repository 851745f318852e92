-- At which right answer do groups differ? Gaps inside cases, by the right label.
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

contrasts as (
    select *
    from {{ ref("dim_contrasts") }}
    where comparison = 'against_reference'
),

-- One row a resume and group; a resume has one right label.
rank_values as (
    select
        predictions.run_id,
        predictions.mitigation,
        predictions.template,
        predictions.domain,
        predictions.subject,
        predictions.expected_label,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(predictions.weight * predictions.rank_value order by predictions.rank_value)
        / sum(predictions.weight) as rank_value,
        sum(predictions.weight * case when predictions.is_correct then 1 else 0 end)
        / sum(predictions.weight) as accuracy
    from {{ ref("fct_predictions") }} as predictions
    inner join {{ ref("dim_prompt_groups") }} as prompt_groups
        on
            predictions.run_id = prompt_groups.run_id
            and predictions.prompt_id = prompt_groups.prompt_id
            and predictions.slot = prompt_groups.slot
    where
        predictions.expected_label is not null
        and predictions.rank_value is not null
    group by
        predictions.run_id, predictions.mitigation, predictions.template, predictions.domain, predictions.subject,
        predictions.expected_label, prompt_groups.attribute, prompt_groups.group_name
)

select
    runs.audit,
    runs.target,
    contrasts.mitigation,
    contrasts.attribute,
    contrasts.group_name,
    contrasts.reference_group,
    marked.expected_label as right_label,
    count(*) as n_resumes,
    avg(marked.accuracy order by marked.accuracy) as accuracy,
    avg(reference.accuracy order by reference.accuracy) as accuracy_of_reference,
    avg(marked.rank_value order by marked.rank_value) as mean_rank_value,
    avg(reference.rank_value order by reference.rank_value) as mean_rank_value_of_reference,
    avg(marked.rank_value - reference.rank_value order by marked.rank_value - reference.rank_value) as gap,
    stddev_samp(marked.rank_value - reference.rank_value order by marked.rank_value - reference.rank_value)
    / sqrt(count(*)) as standard_error
from contrasts
inner join runs on contrasts.run_id = runs.run_id
inner join rank_values as marked
    on
        contrasts.run_id = marked.run_id
        and contrasts.mitigation = marked.mitigation
        and contrasts.attribute = marked.attribute
        and contrasts.group_name = marked.group_name
inner join rank_values as reference
    on
        marked.run_id = reference.run_id
        and marked.mitigation = reference.mitigation
        and marked.template = reference.template
        and marked.domain = reference.domain
        and marked.subject = reference.subject
        and contrasts.attribute = reference.attribute
        and contrasts.reference_group = reference.group_name
group by
    runs.audit, runs.target, contrasts.mitigation, contrasts.attribute, contrasts.group_name, contrasts.reference_group,
    marked.expected_label
order by
    runs.audit, runs.target, contrasts.mitigation, contrasts.attribute, contrasts.group_name, contrasts.reference_group,
    marked.expected_label
