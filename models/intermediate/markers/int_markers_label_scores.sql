{{ config(materialized="by_run") }}

with

texts as (
    select
        run_id,
        prompt_id,
        response_hash,
        mitigation,
        category,
        has_varied_answers
    from {{ run_rows("int_markers_texts") }}
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        response_hash,
        weight
    from {{ run_rows("int_answers") }}
    where status = 'ok'
),

response_scores as (
    select *
    from {{ run_rows("stg_ledger__response_scores") }}
),

scored_answers as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.response_hash,
        texts.mitigation,
        texts.category,
        texts.has_varied_answers,
        response_scores.scorer,
        lower(response_scores.label) as label,
        response_scores.score,
        response_scores.scored_at,
        response_scores.is_short,
        answers.weight
    from answers
    inner join texts
        on
            answers.run_id = texts.run_id
            and answers.prompt_id = texts.prompt_id
            and answers.response_hash = texts.response_hash
    inner join response_scores
        on
            answers.run_id = response_scores.run_id
            and answers.prompt_id = response_scores.prompt_id
            and answers.trial = response_scores.trial
            and answers.attempt = response_scores.attempt
),

label_scores as (
    select
        *,
        row_number() over (
            partition by run_id, prompt_id, trial, scorer order by score desc, label asc
        ) = 1 as is_label_of_text
    from scored_answers
)

select * from label_scores
