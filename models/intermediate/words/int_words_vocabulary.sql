with

words as (
    select distinct word
    from {{ ref("int_words_counts") }}
),

words_vocabulary as (
    select
        cast(row_number() over (order by word) - 1 as integer) as word_id,
        word
    from words
)

select * from words_vocabulary
