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

responses as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        status,
        weight
    from {{ ref("stg_ledger__responses") }}
    where {{ is_of_runs("run_id", runs) }}
),

-- What was erased since was answered even so: without it, who is left would be refused more.
last_attempts as (
    select *
    from responses
    qualify row_number() over (partition by run_id, prompt_id, trial order by attempt desc) = 1
),

outcomes as (
    select
        last_attempts.run_id,
        run_states.run_state,
        last_attempts.prompt_id,
        last_attempts.trial,
        last_attempts.status,
        -- A failed connection says nothing of what would have been answered.
        if(last_attempts.status = 'error', 0, last_attempts.weight) as n,
        if(last_attempts.status = 'ok', last_attempts.weight, 0) as n_usable,
        if(last_attempts.status = 'refused', last_attempts.weight, 0) as n_refused,
        if(last_attempts.status in ('malformed', 'truncated'), last_attempts.weight, 0) as n_unusable,
        if(last_attempts.status = 'error', last_attempts.weight, 0) as n_error
    from last_attempts
    inner join run_states on last_attempts.run_id = run_states.run_id
)

select * from outcomes
