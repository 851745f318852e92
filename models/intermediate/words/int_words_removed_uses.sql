with

units as (
    select
        unit_id,
        unit_key,
        run_id,
        variant,
        prompt_id,
        n_responses
    from {{ ref("int_words_units") }}
    where scheme = 'words'
),

counts as (
    select
        unit_key,
        word,
        n_occurrences
    from {{ ref("int_words_counts") }}
    -- An article that hangs on a word stands beside that word.
    where not contains(word, '>')
),

vocabulary as (
    select
        word_id,
        word
    from {{ ref("int_words_vocabulary") }}
),

removed as (
    select
        run_id,
        word_id,
        token
    from {{ ref("int_words_removed") }}
),

removed_words as (
    select
        removed.run_id,
        removed.token,
        vocabulary.word
    from removed
    inner join vocabulary on removed.word_id = vocabulary.word_id
),

words_removed_uses as (
    select
        units.run_id,
        units.variant,
        units.prompt_id,
        units.unit_id,
        removed_words.word,
        removed_words.token,
        units.n_responses,
        counts.n_occurrences
    from counts
    inner join units on counts.unit_key = units.unit_key
    inner join removed_words
        on
            units.run_id = removed_words.run_id
            and counts.word = removed_words.word
)

select * from words_removed_uses
