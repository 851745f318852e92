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

-- Published keys rest on the fingerprint, which each engine computes alike.
answers as (
    select
        run_id,
        sum({{ integer_key_of(["prompt_id", "trial", "response_hash", "status"]) }}) as fingerprint
    from {{ ref("int_answers") }}
    where {{ is_of_runs("run_id", runs) }}
    group by run_id
),

run_answers as (
    select
        run_states.run_id,
        run_states.run_state,
        answers.run_id is not null as has_answers,
        answers.fingerprint
    from run_states
    left join answers on run_states.run_id = answers.run_id
)

select * from run_answers
