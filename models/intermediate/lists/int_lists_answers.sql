{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        lists_key,
        unnest(schemes) as scheme
    from {{ run_rows("int_lists_runs") }}
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
    from {{ run_rows("int_answers") }}
),

lists_answers as (
    select
        answers.run_id,
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
