{%- set runs = new_runs(ref("int_prices_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_prices_runs", told_by="run_id") }}

with

prices_runs as (
    select run_id
    from {{ ref("int_prices_runs") }}
    where {{ is_of_runs("run_id", runs) }}
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
    from {{ ref("int_answers") }} as answers
    inner join prices_runs on answers.run_id = prices_runs.run_id
    where {{ is_of_runs("answers.run_id", runs) }}
)

select * from prices_answers
