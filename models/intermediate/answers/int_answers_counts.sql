{{ config(materialized="by_run") }}

with

answers_counts as (
    select
        run_id,
        prompt_id,
        status,
        coalesce(read_by, '') as read_by,
        coalesce(answer_language, '') as answer_language,
        sum(weight) as n,
        -- A text is read in one way, and is in one language.
        count(distinct response_hash) as n_distinct_texts
    from {{ run_rows("int_answers") }}
    group by run_id, prompt_id, status, coalesce(read_by, ''), coalesce(answer_language, '')
)

select * from answers_counts
