{{ config(materialized="by_run") }}

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
        run_id,
        text_key,
        'words' as cut,
        answer_text
    from texts
    union all by name
    select
        texts.run_id,
        texts.text_key,
        'white_space' as cut,
        texts.answer_text
    from texts
    inner join runs_with_substrings on texts.run_id = runs_with_substrings.run_id
),

-- The same text may answer several prompts.
distinct_texts as (
    select
        run_id,
        text_key,
        cut,
        any_value(answer_text) as answer_text
    from wanted
    group by run_id, text_key, cut
),

-- Counted text by text, so that the tokens of all need not be held at once.
counted as (
    select
        run_id,
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
    from distinct_texts
),

token_counts as (
    select
        run_id,
        text_key,
        cut,
        counted_token.key as token,
        cast(counted_token.value as integer) as n_occurrences
    from counted
    where counted_token.key <> ''
)

select * from token_counts
