with

scores as (
    select
        run_id,
        prompt_id,
        response_hash,
        markers_hash,
        variant,
        scheme,
        category,
        probe,
        is_assessable
    from {{ ref("int_markers_scores") }}
    where
        is_judged
        and markers_hash is not null
),

texts as (
    select
        run_id,
        prompt_id,
        response_hash,
        words
    from {{ ref("int_markers_texts") }}
),

markers as (
    select distinct
        markers_hash,
        probe,
        category,
        {{ marker_words("marker") }} as word
    from {{ ref("stg_ledger__markers") }}
),

text_counts as (
    select
        run_id,
        variant,
        category,
        count(*) filter (where not is_assessable) as n_unassessed,
        count(*) filter (where is_assessable) as n_assessed
    from scores
    group by run_id, variant, category
),

words_of_texts as (
    select
        scores.*,
        unnest(list_distinct(string_split(trim(texts.words), '  '))) as word
    from scores
    inner join texts
        on
            scores.run_id = texts.run_id
            and scores.prompt_id = texts.prompt_id
            and scores.response_hash = texts.response_hash
),

word_counts as (
    select
        run_id,
        markers_hash,
        variant,
        scheme,
        category,
        word,
        count(*) filter (where not is_assessable) as n_unassessed_with,
        count(*) filter (where is_assessable) as n_assessed_with,
        count(distinct probe) filter (where not is_assessable) as n_probes
    from words_of_texts
    where
        length(word) > 1
        and not list_contains({{ function_words() }}, word)
    group by run_id, markers_hash, variant, scheme, category, word
    having n_unassessed_with > 0
),

ranked as (
    select
        word_counts.*,
        text_counts.n_unassessed,
        text_counts.n_assessed,
        row_number() over (
            partition by word_counts.run_id, word_counts.variant, word_counts.category
            order by
                word_counts.n_unassessed_with desc,
                word_counts.n_assessed_with / nullif(text_counts.n_assessed, 0) asc,
                word_counts.word asc
        ) as word_rank
    from word_counts
    inner join text_counts
        on
            word_counts.run_id = text_counts.run_id
            and word_counts.variant = text_counts.variant
            and word_counts.category = text_counts.category
),

marker_candidates as (
    select
        cast(ranked.run_id as varchar) as run_id,
        cast(ranked.variant as varchar) as variant,
        cast(ranked.scheme as varchar) as scheme,
        cast(ranked.category as varchar) as category,
        cast(ranked.word as varchar) as word,
        cast(ranked.word_rank as integer) as word_rank,
        cast(ranked.n_unassessed_with as bigint) as n_unassessed_with,
        cast(ranked.n_unassessed as bigint) as n_unassessed,
        cast(ranked.n_assessed_with as bigint) as n_assessed_with,
        cast(ranked.n_assessed as bigint) as n_assessed,
        cast(ranked.n_probes as bigint) as n_probes,
        cast(ranked.n_unassessed_with / ranked.n_unassessed as double) as share_unassessed,
        cast(ranked.n_assessed_with / nullif(ranked.n_assessed, 0) as double) as share_assessed,
        -- Of some probe of the category: a text with fewer markers than the minimum is not assessed either.
        cast(
            exists (
                select 1
                from markers
                where
                    markers.markers_hash = ranked.markers_hash
                    and markers.word = ranked.word
            ) as boolean
        ) as is_marker
    from ranked
    where ranked.word_rank <= 100
)

select * from marker_candidates
