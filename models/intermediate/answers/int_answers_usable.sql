{{ config(materialized="by_run") }}

with

outcomes as (
    select
        run_id,
        prompt_id,
        coalesce(sum(n_asked) filter (where last_status = 'ok'), 0) as n_usable
    from {{ run_rows("int_answers_outcomes") }}
    group by run_id, prompt_id
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

counted as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(outcomes.n_usable) as n_usable
    from prompt_groups
    inner join outcomes
        on
            prompt_groups.run_id = outcomes.run_id
            and prompt_groups.prompt_id = outcomes.prompt_id
    group by prompt_groups.run_id, prompt_groups.mitigation, prompt_groups.attribute, prompt_groups.group_name
),

usable as (
    select
        counted.*,
        sum(counted.n_usable) over (partition by counted.run_id, counted.mitigation) as n_usable_of_run
    from counted
)

select * from usable
