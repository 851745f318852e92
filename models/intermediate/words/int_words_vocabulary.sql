with

words as (
    select distinct word
    from {{ ref("int_words_run_words") }}
),

-- An article that hangs on a word is also a word by itself.
spellings as (
    select word
    from words
    union
    select split_part(word, '>', 1) as word
    from words
    where contains(word, '>')
),

words_vocabulary as (
    select
        cast(row_number() over (order by word) - 1 as integer) as word_id,
        word
    from spellings
)

select * from words_vocabulary
