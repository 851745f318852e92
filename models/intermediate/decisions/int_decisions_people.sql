{{ config(materialized="by_run") }}

with

predictions as (
    select *
    from {{ run_rows("int_decisions_predictions") }}
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        group_name,
        descriptors,
        other_groups
    from {{ run_rows("int_prompt_groups") }}
),

decisions_runs as (
    select
        run_id,
        is_paired
    from {{ ref("int_decisions_runs") }}
),

grouped as (
    select
        predictions.*,
        prompt_groups.attribute,
        prompt_groups.group_name,
        -- The name that states the group; a descriptor may be unknown.
        nullif(prompt_groups.descriptors, '') as person_name,
        coalesce(prompt_groups.other_groups, '') as other_groups
    from predictions
    inner join prompt_groups
        on
            predictions.run_id = prompt_groups.run_id
            and predictions.prompt_id = prompt_groups.prompt_id
            and predictions.slot = prompt_groups.slot
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        coalesce(domain, '') as domain,
        subject
    from {{ run_rows("stg_ledger__prompts") }}
    where coalesce(subject, '') <> ''
),

-- The same resume under several names is paired, whether or not every question about it was answered; an applicant who
-- stands there once is not.
subject_groups as (
    select
        prompts.run_id,
        prompts.mitigation,
        prompt_groups.attribute,
        prompts.domain,
        prompts.subject,
        count(distinct prompt_groups.group_name) as n_groups
    from prompts
    inner join prompt_groups
        on
            prompts.run_id = prompt_groups.run_id
            and prompts.prompt_id = prompt_groups.prompt_id
    group by prompts.run_id, prompts.mitigation, prompt_groups.attribute, prompts.domain, prompts.subject
),

pairings as (
    select
        run_id,
        mitigation,
        attribute,
        avg(cast(n_groups > 1 as integer)) > 0.5 as has_pairs
    from subject_groups
    group by run_id, mitigation, attribute
),

marked_people as (
    select
        grouped.*,
        grouped.kind <> 'ranking' and coalesce(decisions_runs.is_paired, pairings.has_pairs, false) as is_paired
    from grouped
    inner join decisions_runs on grouped.run_id = decisions_runs.run_id
    left join pairings
        on
            grouped.run_id = pairings.run_id
            and grouped.mitigation = pairings.mitigation
            and grouped.attribute = pairings.attribute
),

people as (
    select
        *,
        -- A resume is its own control, so all jobs are judged together; where people or names are compared, each job is
        -- judged alone.
        case when is_paired then '' else domain end as judged_domain,
        {{ integer_key_of(["run_id", "mitigation", "attribute", "judged_domain"]) }} as pool_key
    from marked_people
)

select * from people
