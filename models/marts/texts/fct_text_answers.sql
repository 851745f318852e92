with

answers as (
    select *
    from {{ ref("int_texts_answers") }}
),

manners as (
    select *
    from {{ ref("int_texts_manners") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        variant
    from {{ ref("stg_ledger__prompts") }}
),

text_answers as (
    select
        answers.*,
        prompts.variant,
        manners.n_words,
        manners.n_sentences,
        manners.readability,
        manners.hedging
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    inner join manners on answers.text_key = manners.text_key
)

{{ contracted("text_answers") }}
