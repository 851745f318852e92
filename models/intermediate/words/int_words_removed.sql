with

vocabulary as (
    select
        word_id,
        word
    from {{ ref("int_words_vocabulary") }}
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
        word_id,
        word,
        unnest(string_split(word, '>')) as whole
    from vocabulary
),

-- A term leaks as itself, as its possessive and as part of a compound: woman, woman's, woman-owned.
word_parts as (
    select
        word_id,
        word,
        unnest(
            list_distinct(
                [whole, regexp_replace(whole, '''s?$', '')] || string_split(whole, '-')
                || list_transform(string_split(whole, '-'), lambda part: regexp_replace(part, '''s?$', ''))
            )
        ) as part
    from word_wholes
),

words_removed as (
    select
        terms.run_id,
        word_parts.word_id,
        word_parts.word,
        min(terms.token) as token
    from word_parts
    inner join terms on word_parts.part = terms.token
    group by terms.run_id, word_parts.word_id, word_parts.word
)

select * from words_removed
