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
        other_groups,
        block,
        has_pairs,
        person,
        paired_cluster
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
        coalesce(prompt_groups.other_groups, '') as other_groups,
        prompt_groups.block,
        prompt_groups.person,
        prompt_groups.paired_cluster,
        -- The same resume under several names is paired, whether or not every question about it was answered; an
        -- applicant with one application is not.
        predictions.kind <> 'ranking' and coalesce(decisions_runs.is_paired, prompt_groups.has_pairs) as is_paired
    from predictions
    inner join prompt_groups
        on
            predictions.run_id = prompt_groups.run_id
            and predictions.prompt_id = prompt_groups.prompt_id
            and predictions.slot = prompt_groups.slot
    inner join decisions_runs on predictions.run_id = decisions_runs.run_id
),

people as (
    select
        *,
        -- A resume is its own control, so all jobs are judged together; where people or names are compared, each job is
        -- judged alone.
        case when is_paired then '' else domain end as judged_domain,
        {{ integer_key_of(["run_id", "mitigation", "attribute", "judged_domain"]) }} as pool_key,
        -- Inside what labels move: the resume, or the job.
        case
            when is_paired then concat_ws(' | ', template, domain, subject, other_groups, 'block ' || block)
            when kind = 'ranking' then concat_ws(' | ', domain, other_groups, 'block ' || block)
            else concat_ws(' | ', domain, 'block ' || block)
        end as stratum
    from grouped
)

select * from people
