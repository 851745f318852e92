{{ config(materialized="by_run") }}

with

words as (
    select distinct
        run_id,
        word
    from {{ run_rows("int_words_counts") }}
),

terms as (
    select distinct
        run_id,
        {{ token_of_term("term") }} as token
    from {{ ref("int_words_terms") }}
),

-- An article hangs on the word after it, and goes where that goes.
word_wholes as (
    select
        run_id,
        word,
        unnest(string_split(word, '>')) as whole
    from words
),

-- A term leaks as itself, as its possessive and as part of a compound: woman, woman's, woman-owned.
word_parts as (
    select
        run_id,
        word,
        unnest(
            list_distinct(
                [whole, regexp_replace(whole, '''s?$', '')] || string_split(whole, '-')
                || list_transform(string_split(whole, '-'), lambda part: regexp_replace(part, '''s?$', ''))
            )
        ) as part
    from word_wholes
),

removed as (
    select
        word_parts.run_id,
        word_parts.word,
        min(terms.token) as token
    from word_parts
    inner join terms
        on
            word_parts.run_id = terms.run_id
            and word_parts.part = terms.token
    group by word_parts.run_id, word_parts.word
),

run_words as (
    select
        words.*,
        removed.token
    from words
    left join removed
        on
            words.run_id = removed.run_id
            and words.word = removed.word
)

select * from run_words
