-- Is a group of two attributes treated otherwise than the sum of both says?
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

-- The gap of both less the gaps of each alone, inside cases that have all four combinations.
with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

members as (
    select
        prompt_groups.run_id,
        prompt_groups.prompt_id,
        prompt_groups.slot,
        prompt_groups.attribute,
        prompt_groups.group_name,
        groups.is_reference
    from {{ ref("dim_prompt_groups") }} as prompt_groups
    inner join {{ ref("dim_groups") }} as groups
        on
            prompt_groups.run_id = groups.run_id
            and prompt_groups.attribute = groups.attribute
            and prompt_groups.group_name = groups.group_name
    where not groups.is_crossed
),

cells as (
    select
        predictions.run_id,
        predictions.mitigation,
        predictions.template,
        predictions.domain,
        predictions.subject,
        first_members.attribute as first_attribute,
        second_members.attribute as second_attribute,
        first_members.group_name as first_group,
        second_members.group_name as second_group,
        first_members.is_reference as is_first_reference,
        second_members.is_reference as is_second_reference,
        sum(predictions.weight * predictions.rank_value order by predictions.rank_value)
        / sum(predictions.weight) as rank_value
    from {{ ref("fct_predictions") }} as predictions
    inner join members as first_members
        on
            predictions.run_id = first_members.run_id
            and predictions.prompt_id = first_members.prompt_id
            and predictions.slot = first_members.slot
    inner join members as second_members
        on
            predictions.run_id = second_members.run_id
            and predictions.prompt_id = second_members.prompt_id
            and predictions.slot = second_members.slot
            and first_members.attribute < second_members.attribute
    where predictions.rank_value is not null
    group by
        predictions.run_id, predictions.mitigation, predictions.template, predictions.domain, predictions.subject,
        first_members.attribute, second_members.attribute, first_members.group_name, second_members.group_name,
        first_members.is_reference, second_members.is_reference
),

-- One row a resume and intersection, with the three combinations that it is held against.
resumes as (
    select
        marked.run_id,
        marked.mitigation,
        marked.first_attribute,
        marked.second_attribute,
        marked.first_group,
        marked.second_group,
        marked.rank_value - neither.rank_value as gap_of_both,
        first_only.rank_value - neither.rank_value as gap_of_first,
        second_only.rank_value - neither.rank_value as gap_of_second,
        marked.rank_value - first_only.rank_value - second_only.rank_value + neither.rank_value as beyond
    from cells as marked
    inner join cells as neither
        on
            marked.run_id = neither.run_id
            and marked.mitigation = neither.mitigation
            and marked.template = neither.template
            and marked.domain = neither.domain
            and marked.subject = neither.subject
            and marked.first_attribute = neither.first_attribute
            and marked.second_attribute = neither.second_attribute
    inner join cells as first_only
        on
            neither.run_id = first_only.run_id
            and neither.mitigation = first_only.mitigation
            and neither.template = first_only.template
            and neither.domain = first_only.domain
            and neither.subject = first_only.subject
            and neither.first_attribute = first_only.first_attribute
            and neither.second_attribute = first_only.second_attribute
            and marked.first_group = first_only.first_group
    inner join cells as second_only
        on
            neither.run_id = second_only.run_id
            and neither.mitigation = second_only.mitigation
            and neither.template = second_only.template
            and neither.domain = second_only.domain
            and neither.subject = second_only.subject
            and neither.first_attribute = second_only.first_attribute
            and neither.second_attribute = second_only.second_attribute
            and marked.second_group = second_only.second_group
    where
        not marked.is_first_reference
        and not marked.is_second_reference
        and neither.is_first_reference
        and neither.is_second_reference
        and first_only.is_second_reference
        and second_only.is_first_reference
)

select
    runs.audit,
    runs.target,
    resumes.mitigation,
    resumes.first_attribute,
    resumes.second_attribute,
    resumes.first_group,
    resumes.second_group,
    count(*) as n_resumes,
    avg(resumes.gap_of_first order by resumes.gap_of_first) as gap_of_first,
    avg(resumes.gap_of_second order by resumes.gap_of_second) as gap_of_second,
    avg(resumes.gap_of_both order by resumes.gap_of_both) as gap_of_both,
    avg(resumes.beyond order by resumes.beyond) as beyond_the_sum,
    stddev_samp(resumes.beyond order by resumes.beyond) / sqrt(count(*)) as standard_error
from resumes
inner join runs on resumes.run_id = runs.run_id
group by
    runs.audit, runs.target, resumes.mitigation, resumes.first_attribute, resumes.second_attribute, resumes.first_group,
    resumes.second_group
order by
    runs.audit, runs.target, resumes.mitigation, resumes.first_attribute, resumes.second_attribute, resumes.first_group,
    resumes.second_group
