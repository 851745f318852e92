{{ config(materialized="by_run") }}

with

prices_runs as (
    select run_id
    from {{ run_rows("int_prices_runs") }}
),

prices_answers as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.status,
        answers.has_text,
        answers.weight,
        -- The engine may look at answers to other audits, which are plain text, before it leaves them out.
        case when answers.status = 'ok' then try_cast(answers.answer_text as json) end as answer
    from {{ run_rows("int_answers") }} as answers
    inner join prices_runs on answers.run_id = prices_runs.run_id
)

select * from prices_answers
