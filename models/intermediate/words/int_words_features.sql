-- A view, because each measure reads only the runs to build, one corpus at a time.
-- Elsewhere than in DuckDB a view is read whole.
{{ config(materialized="view" if target.type == "duckdb" else "rebuilt") }}

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
        run_id,
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

-- An article counts as itself, whatever word it hangs on.
spelled as (
    select
        vocabulary.word,
        vocabulary.word_id as written_id,
        plain.word_id,
        count(*) over (partition by plain.word_id) > 1 as is_spelled_variously
    from vocabulary
    inner join vocabulary as plain on split_part(vocabulary.word, '>', 1) = plain.word
),

removed as (
    select
        run_words.run_id,
        vocabulary.word_id,
        'words' as scheme
    from {{ ref("int_words_run_words") }} as run_words
    inner join vocabulary on run_words.word = vocabulary.word
    where run_words.token is not null
),

kept as (
    select
        units.run_id,
        units.unit_id,
        spelled.word_id,
        spelled.is_spelled_variously,
        counts.n_occurrences
    from counts
    inner join units
        on
            counts.run_id = units.run_id
            and counts.unit_key = units.unit_key
    inner join spelled on counts.word = spelled.word
    left join removed
        on
            units.run_id = removed.run_id
            and units.scheme = removed.scheme
            and spelled.written_id = removed.word_id
    where removed.word_id is null
),

-- Words with one spelling have one row per unit already, and there are millions.
words_features as (
    select
        run_id,
        unit_id,
        word_id,
        n_occurrences
    from kept
    where not is_spelled_variously
    union all
    select
        run_id,
        unit_id,
        word_id,
        cast(sum(n_occurrences) as integer) as n_occurrences
    from kept
    where is_spelled_variously
    group by run_id, unit_id, word_id
)

select * from words_features
