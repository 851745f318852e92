with

vocabulary as (
    select
        word_id,
        word
    from {{ ref("int_words_vocabulary") }}
),

terms as (
    select
        run_id,
        term
    from {{ ref("int_words_terms") }}
    where not is_phrase
),

-- A term leaks as itself, as its possessive and as part of a compound: woman, woman's, woman-owned.
word_parts as (
    select
        word_id,
        unnest(
            list_distinct(
                [word, regexp_replace(word, '''s?$', '')] || string_split(word, '-')
                || list_transform(string_split(word, '-'), lambda part: regexp_replace(part, '''s?$', ''))
            )
        ) as part
    from vocabulary
),

words_removed as (
    select distinct
        terms.run_id,
        word_parts.word_id
    from word_parts
    inner join terms on word_parts.part = terms.term
)

select * from words_removed
