{{ config(materialized="by_run") }}

with

run_words as (
    select distinct
        run_id,
        word
    from {{ run_rows("int_words_counts") }}
)

select * from run_words
