{%- set runs = new_runs(ref("int_lists_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_lists_runs") }}

with

lists_runs as (
    select
        run_id,
        run_state,
        lists_key,
        unnest(schemes) as scheme
    from {{ ref("int_lists_runs") }}
    where {{ is_of_runs("run_id", runs) }}
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        seq,
        response_hash,
        answer_text,
        status
    from {{ ref("int_answers") }}
    where {{ is_of_runs("run_id", runs) }}
),

lists_answers as (
    select
        answers.run_id,
        lists_runs.run_state,
        lists_runs.lists_key,
        lists_runs.scheme,
        answers.prompt_id,
        answers.trial,
        answers.seq,
        answers.status,
        answers.response_hash,
        answers.answer_text,
        -- The list that was found depends on the rules of its day, so it is part of the key.
        {{ integer_key_of([
            "answers.response_hash", "answers.answer_text", "lists_runs.scheme", "'" ~ var("engine_version") ~ "'",
        ]) }} as list_key
    from answers
    inner join lists_runs on answers.run_id = lists_runs.run_id
)

select * from lists_answers
