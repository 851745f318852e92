{{ config(materialized="by_run") }}

with

units as (
    select
        unit_key,
        run_id,
        prompt_id,
        first_seq,
        scheme,
        phrases
    from {{ run_rows("int_words_units") }}
),

-- Repeats of an answer have the first one's words: no texts are compared or held.
texts as (
    select
        units.unit_key,
        units.run_id,
        units.scheme,
        units.phrases,
        responses.answer_text,
        -- The answer's words do not show which of them were keys. Other schemes do not read the text, but Spark passes
        -- Python every column that any branch below needs.
        if(units.scheme = 'keys', responses.response_text, null) as response_text
    from {{ run_rows("stg_ledger__responses") }} as responses
    inner join units
        on
            responses.run_id = units.run_id
            and responses.prompt_id = units.prompt_id
            and responses.seq = units.first_seq
),

tokens as (
    select
        unit_key,
        -- Sorted, so that reading one run skips the others' rows.
        run_id,
        -- Only the branch of a row's own scheme is evaluated.
        case scheme
            {% for scheme in scheme_names() %}
                when '{{ scheme }}'
                    then {{ scheme_tokens(scheme, "answer_text", "phrases", "response_text") }}  -- noqa
            {% endfor %}
        end as words
    from texts
),

-- Text by text: a table of all words of all texts would not fit into memory, and a text's rows stay together.
of_texts as (
    select
        unit_key,
        run_id,
        unnest(map_entries(list_histogram(words))) as word_and_uses
    from tokens
),

word_counts as (
    select
        unit_key,
        run_id,
        word_and_uses.key as word,
        cast(word_and_uses.value as integer) as n_occurrences
    from of_texts
)

select * from word_counts
