{{ config(materialized="by_run") }}

with

units as (
    select
        run_id,
        mitigation,
        prompt_id,
        unit_id,
        unit_key,
        n_responses
    from {{ run_rows("int_words_units") }}
    where scheme = 'words'
),

run_attributes as (
    select
        run_id,
        attribute
    from {{ ref("int_run_attributes") }}
    where kind = 'plain'
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
    where slot = 1
),

counts as (
    select
        unit_key,
        run_id,
        word,
        n_occurrences
    from {{ run_rows("int_words_counts") }}
    -- An article that is joined to a word is listed with that word.
    where not contains(word, '>')
),

removed as (
    select
        run_id,
        word,
        token
    from {{ run_rows("int_words_run_words") }}
    where token is not null
),

unit_groups as (
    select
        units.*,
        prompt_groups.attribute,
        prompt_groups.group_name,
        {{ integer_key_of([
            "units.run_id", "units.mitigation", "prompt_groups.attribute", "prompt_groups.group_name",
        ]) }} as group_key
    from units
    inner join prompt_groups
        on
            units.run_id = prompt_groups.run_id
            and units.prompt_id = prompt_groups.prompt_id
    inner join run_attributes
        on
            prompt_groups.run_id = run_attributes.run_id
            and prompt_groups.attribute = run_attributes.attribute
),

-- A null word is the answer itself.
words_removed_uses as (
    select
        unit_groups.*,
        removed.word,
        removed.token,
        counts.n_occurrences
    from counts
    -- Few words are removed: what else a text says need not meet its groups.
    inner join removed
        on
            counts.run_id = removed.run_id
            and counts.word = removed.word
    inner join unit_groups on counts.unit_key = unit_groups.unit_key
    union all by name
    select *
    from unit_groups
)

select * from words_removed_uses
