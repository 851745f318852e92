with

units as (
    select
        unit_key,
        unit_id,
        run_id,
        scheme
    from {{ ref("int_words_units") }}
),

counts as (
    select
        unit_key,
        word,
        n_occurrences
    from {{ ref("int_words_counts") }}
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
        'words' as scheme
    from {{ ref("int_words_removed") }}
),

words_features as (
    select
        units.unit_id,
        vocabulary.word_id,
        counts.n_occurrences
    from counts
    inner join units on counts.unit_key = units.unit_key
    inner join vocabulary on counts.word = vocabulary.word
    left join removed
        on
            units.run_id = removed.run_id
            and units.scheme = removed.scheme
            and vocabulary.word_id = removed.word_id
    where removed.word_id is null
)

select * from words_features
