{%- set runs = new_runs(ref("int_run_states")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_run_states") }}

with

run_states as (
    select
        run_id,
        run_state
    from {{ ref("int_run_states") }}
    where {{ is_of_runs("run_id", runs) }}
),

outcomes as (
    select
        run_id,
        prompt_id,
        coalesce(sum(n_asked) filter (where last_status = 'ok'), 0) as n_usable
    from {{ ref("int_answers_outcomes") }}
    where {{ is_of_runs("run_id", runs) }}
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
    from {{ ref("int_prompt_groups") }}
    where {{ is_of_runs("run_id", runs) }}
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
        run_states.run_state,
        sum(counted.n_usable) over (partition by counted.run_id, counted.mitigation) as n_usable_of_run
    from counted
    inner join run_states on counted.run_id = run_states.run_id
)

select * from usable
