{{ config(materialized="by_run") }}

with

words as (
    select distinct
        run_id,
        word
    from {{ run_rows("int_words_counts") }}
),

run_words as (
    select
        words.run_id,
        words.word
    from words
)

select * from run_words
