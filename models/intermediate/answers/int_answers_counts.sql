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

counted as (
    select
        run_id,
        prompt_id,
        status,
        coalesce(read_by, '') as read_by,
        coalesce(answer_language, '') as answer_language,
        sum(weight) as n,
        -- A text is read in one way, and is in one language.
        count(distinct response_hash) as n_distinct_texts
    from {{ ref("int_answers") }}
    where {{ is_of_runs("run_id", runs) }}
    group by run_id, prompt_id, status, coalesce(read_by, ''), coalesce(answer_language, '')
),

answers_counts as (
    select
        counted.run_id,
        run_states.run_state,
        counted.prompt_id,
        counted.status,
        counted.read_by,
        counted.answer_language,
        counted.n,
        counted.n_distinct_texts
    from counted
    inner join run_states on counted.run_id = run_states.run_id
)

select * from answers_counts
