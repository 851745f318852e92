{{
    config(
        materialized="incremental",
        incremental_strategy="append",
    )
}}

with

texts as (
    select
        run_id,
        text_key,
        answer_text
    from {{ run_rows("int_markers_texts") }}
    where markers_hash is not null
),

runs_with_substrings as (
    select run_id
    from {{ ref("int_markers_schemes") }}
    where scheme = 'substring'
),

wanted as (
    select
        text_key,
        'words' as cut,
        answer_text
    from texts
    union all by name
    select
        texts.text_key,
        'white_space' as cut,
        texts.answer_text
    from texts
    inner join runs_with_substrings on texts.run_id = runs_with_substrings.run_id
),

-- The same text may answer several prompts.
new_texts as (
    select
        text_key,
        cut,
        any_value(answer_text) as answer_text
    from wanted
    {% if is_incremental() %}
        where (text_key, cut) not in (
            select (cut_before.text_key, cut_before.cut)
            from {{ this }} as cut_before
            where cut_before.text_key in (select texts.text_key from texts)
        )
    {% endif %}
    group by text_key, cut
),

-- Counted text by text, so that the tokens of all need not be held at once.
counted as (
    select
        text_key,
        cut,
        unnest(
            map_entries(
                list_histogram(
                    -- Only the branch of a row's own cut is evaluated.
                    case cut
                        when 'words' then string_split({{ marker_words("answer_text") }}, ' ')
                        else {{ white_space_tokens("answer_text") }}
                    end
                )
            )
        ) as counted_token
    from new_texts
),

token_counts as (
    select
        text_key,
        cut,
        counted_token.key as token,
        cast(counted_token.value as integer) as n_occurrences
    from counted
    where counted_token.key <> ''
)

select * from token_counts
