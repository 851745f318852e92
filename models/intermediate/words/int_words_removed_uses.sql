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
        run_id,
        word,
        n_occurrences
    from {{ ref("int_words_counts") }}
    -- An article that hangs on a word stands next to that word.
    where
        not contains(word, '>')
        and {{ is_of_runs("run_id", runs) }}
),

removed as (
    select
        run_id,
        word,
        token
    from {{ ref("int_words_removed") }}
    where {{ is_of_runs("run_id", runs) }}
),

words_removed_uses as (
    select
        unit_groups.run_id,
        unit_groups.run_state,
        unit_groups.group_key,
        unit_groups.unit_id,
        removed.word,
        removed.token,
        unit_groups.n_responses,
        counts.n_occurrences
    from counts
    -- Few words are removed: what else a text says need not meet its groups.
    inner join removed
        on
            counts.run_id = removed.run_id
            and counts.word = removed.word
    inner join unit_groups on counts.unit_key = unit_groups.unit_key
)

select * from words_removed_uses
