{%- set runs = new_runs(ref("int_words_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_words_runs") }}

with

unit_groups as (
    select
        run_id,
        run_state,
        group_key,
        unit_id,
        unit_key,
        n_responses
    from {{ ref("int_words_unit_groups") }}
    where {{ is_of_runs("run_id", runs) }}
),

counts as (
    select
        unit_key,
        word,
        n_occurrences
    from {{ ref("int_words_counts") }}
    -- An article that hangs on a word stands beside that word.
    where
        not contains(word, '>')
        and {{ is_of_runs("run_id", runs) }}
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
    where {{ is_of_runs("run_id", runs) }}
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
        unit_groups.run_id,
        unit_groups.run_state,
        unit_groups.group_key,
        unit_groups.unit_id,
        removed_words.word,
        removed_words.token,
        unit_groups.n_responses,
        counts.n_occurrences
    from counts
    inner join unit_groups on counts.unit_key = unit_groups.unit_key
    inner join removed_words
        on
            unit_groups.run_id = removed_words.run_id
            and counts.word = removed_words.word
)

select * from words_removed_uses
