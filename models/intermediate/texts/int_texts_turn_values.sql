{{ config(materialized="view") }}

with

answers as (
    select *
    from {{ ref("int_texts_answers") }}
),

outcomes as (
    select *
    from {{ ref("int_texts_outcomes") }}
    where value is not null
),

turn_values as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        outcomes.outcome as scheme,
        outcomes.value as outcome_value
    from answers
    inner join outcomes on answers.text_key = outcomes.text_key
)

select * from turn_values
