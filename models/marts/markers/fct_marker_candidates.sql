{{ config(materialized="by_run") }}

with

scores as (
    select
        answer_key,
        run_id,
        markers_hash,
        mitigation,
        scheme,
        category,
        probe,
        is_assessable
    from {{ run_rows("int_markers_scores") }}
    where
        is_judged
        and markers_hash is not null
),

texts as (
    select
        answer_key,
        text_key
    from {{ run_rows("int_markers_texts") }}
),

tokens as (
    select
        text_key,
        token as word
    from {{ run_rows("int_markers_tokens") }}
    where
        cut = 'words'
        and length(token) > 1
        and not list_contains({{ function_words() }}, token)
),

-- Markers of any probe of the category: a text with fewer markers than the minimum is not assessed either.
markers as (
    select distinct
        markers_hash,
        {{ marker_words("marker") }} as word
    from {{ ref("stg_ledger__markers") }}
),

text_counts as (
    select
        run_id,
        mitigation,
        category,
        count(*) filter (where not is_assessable) as n_unassessed,
        count(*) filter (where is_assessable) as n_assessed
    from scores
    group by run_id, mitigation, category
),

-- Words are counted by number, which is smaller than what a category is known by.
texts_of_probes as (
    select
        texts.text_key,
        dense_rank() over (
            order by scores.run_id, scores.markers_hash, scores.mitigation, scores.scheme, scores.category, scores.probe
        ) as probe_number,
        scores.run_id,
        scores.markers_hash,
        scores.mitigation,
        scores.scheme,
        scores.category,
        scores.is_assessable
    from scores
    inner join texts on scores.answer_key = texts.answer_key
),

words_of_probes as (
    select
        texts_of_probes.probe_number,
        tokens.word,
        count(*) filter (where not texts_of_probes.is_assessable) as n_unassessed_with,
        count(*) filter (where texts_of_probes.is_assessable) as n_assessed_with
    from texts_of_probes
    inner join tokens on texts_of_probes.text_key = tokens.text_key
    group by texts_of_probes.probe_number, tokens.word
),

numbered_probes as (
    select distinct
        probe_number,
        run_id,
        markers_hash,
        mitigation,
        scheme,
        category
    from texts_of_probes
),

word_counts as (
    select
        numbered_probes.run_id,
        numbered_probes.markers_hash,
        numbered_probes.mitigation,
        numbered_probes.scheme,
        numbered_probes.category,
        words_of_probes.word,
        sum(words_of_probes.n_unassessed_with) as n_unassessed_with,
        sum(words_of_probes.n_assessed_with) as n_assessed_with,
        count(*) filter (where words_of_probes.n_unassessed_with > 0) as n_probes
    from words_of_probes
    inner join numbered_probes on words_of_probes.probe_number = numbered_probes.probe_number
    group by
        numbered_probes.run_id, numbered_probes.markers_hash, numbered_probes.mitigation, numbered_probes.scheme,
        numbered_probes.category, words_of_probes.word
    having sum(words_of_probes.n_unassessed_with) > 0
),

ranked as (
    select
        word_counts.*,
        text_counts.n_unassessed,
        text_counts.n_assessed,
        row_number() over (
            partition by word_counts.run_id, word_counts.mitigation, word_counts.category
            order by
                word_counts.n_unassessed_with desc,
                word_counts.n_assessed_with / nullif(text_counts.n_assessed, 0) asc,
                word_counts.word asc
        ) as word_rank
    from word_counts
    inner join text_counts
        on
            word_counts.run_id = text_counts.run_id
            and word_counts.mitigation = text_counts.mitigation
            and word_counts.category = text_counts.category
),

marker_candidates as (
    select
        ranked.*,
        ranked.n_unassessed_with / ranked.n_unassessed as share_unassessed,
        ranked.n_assessed_with / nullif(ranked.n_assessed, 0) as share_assessed,
        markers.word is not null as is_marker
    from ranked
    left join markers
        on
            ranked.markers_hash = markers.markers_hash
            and ranked.word = markers.word
    where ranked.word_rank <= 100
)

{{ contracted("marker_candidates") }}
