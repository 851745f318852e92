with

answers as (
    select *
    from {{ ref("int_texts_answers") }}
),

styles as (
    select *
    from {{ ref("int_texts_styles") }}
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
        styles.n_words,
        styles.n_sentences,
        styles.readability,
        styles.hedging
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    inner join styles on answers.text_key = styles.text_key
)

{{ contracted("text_answers") }}
