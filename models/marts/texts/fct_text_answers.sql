with

answers as (
    select *
    from {{ ref("int_texts_answers") }}
),

outcomes as (
    select *
    from {{ ref("int_texts_outcomes") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation
    from {{ ref("stg_ledger__prompts") }}
),

text_answers as (
    select
        answers.*,
        prompts.mitigation,
        outcomes.outcome,
        outcomes.value,
        outcomes.n_words,
        outcomes.n_sentences
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    inner join outcomes on answers.text_key = outcomes.text_key
)

{{ contracted("text_answers") }}
