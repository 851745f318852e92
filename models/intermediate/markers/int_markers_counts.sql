{{ config(materialized="by_run") }}

with

texts as (
    select
        answer_key,
        run_id,
        text_key,
        markers_hash,
        category,
        probe
    from {{ run_rows("int_markers_texts") }}
    where markers_hash is not null
),

schemes as (
    select
        run_id,
        scheme
    from {{ ref("int_markers_schemes") }}
),

-- A marker whose direction depends on the group occurs twice in its list and counts once.
listed_markers as (
    select distinct
        markers_hash,
        probe,
        category,
        list,
        marker
    from {{ ref("stg_ledger__markers") }}
),

found as (
    select *
    from {{ ref("int_markers_found") }}
),

found_in_lists as (
    select
        found.answer_key,
        texts.run_id,
        found.scheme,
        listed_markers.list,
        max(found.n_hits) as n_hits
    from found
    inner join texts on found.answer_key = texts.answer_key
    inner join listed_markers
        on
            texts.markers_hash = listed_markers.markers_hash
            and found.marker = listed_markers.marker
            and {{ marker_applies("listed_markers", "texts") }}
    -- As in answers, hip-hop and hip hop are one marker, even in different rows.
    group by
        found.answer_key, texts.run_id, found.scheme, listed_markers.list, {{ marker_words("found.marker") }}
),

lengths as (
    select
        text_key,
        cut,
        sum(n_occurrences) as n_tokens
    from {{ run_rows("int_markers_tokens") }}
    group by text_key, cut
),

counts as (
    select
        answer_key,
        run_id,
        scheme,
        list,
        sum(n_hits) as n
    from found_in_lists
    group by answer_key, run_id, scheme, list
    union all by name
    select
        texts.answer_key,
        texts.run_id,
        schemes.scheme,
        coalesce(lengths.n_tokens, 0) as n
    from texts
    inner join schemes on texts.run_id = schemes.run_id
    left join lengths
        on
            texts.text_key = lengths.text_key
            and {{ cut_of("schemes.scheme") }} = lengths.cut
)

select * from counts
