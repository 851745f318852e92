{{ config(materialized="by_run") }}

with

removed as (
    select
        run_id,
        word
    from {{ ref("int_words_removed") }}
),

texts as (
    select
        unit_key,
        run_id,
        scheme
    from {{ run_rows("int_words_units") }}
),

counts as (
    select
        unit_key,
        run_id,
        word
    from {{ run_rows("int_words_counts") }}
),

-- Words become texts' sums before they meet texts: of a million texts there are hundreds of millions.
sums as (
    select
        counts.unit_key,
        count(*) as n_words,
        count(*) filter (where removed.word is null) as n_left
    from counts
    left join removed
        on
            counts.run_id = removed.run_id
            and counts.word = removed.word
    group by counts.unit_key
),

words_kept as (
    select
        texts.unit_key,
        texts.run_id,
        -- Words are removed in our own scheme alone.
        coalesce(if(texts.scheme = 'words', sums.n_left, sums.n_words), 0) as n_words
    from texts
    left join sums on texts.unit_key = sums.unit_key
)

select * from words_kept
