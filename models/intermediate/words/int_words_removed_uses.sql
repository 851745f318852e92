{{ config(materialized="by_run") }}

with

unit_groups as (
    select
        run_id,
        group_key,
        unit_id,
        unit_key,
        n_responses
    from {{ run_rows("int_words_unit_groups") }}
),

counts as (
    select
        unit_key,
        run_id,
        word,
        n_occurrences
    from {{ run_rows("int_words_counts") }}
    -- An article that hangs on a word stands next to that word.
    where not contains(word, '>')
),

removed as (
    select
        run_id,
        word,
        token
    from {{ run_rows("int_words_removed") }}
),

words_removed_uses as (
    select
        unit_groups.run_id,
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
