with

markers as (
    select distinct
        markers_hash,
        probe,
        category,
        kind,
        marker
    from {{ ref("stg_ledger__markers") }}
),

schemes as (
    select distinct
        markers_hash,
        scheme
    from {{ ref("int_markers_schemes") }}
),

matched_as as (
    select
        markers.markers_hash,
        markers.probe,
        markers.category,
        markers.marker,
        schemes.scheme,
        -- A phrase is a word or a stem of several words; `declared` takes each marker as it says itself.
        case
            when schemes.scheme = 'substring' then 'substring'
            when schemes.scheme = 'stem' or (schemes.scheme = 'declared' and markers.kind = 'stem') then 'stem'
            else 'word'
        end as matched_as
    from markers
    inner join schemes on markers.markers_hash = schemes.markers_hash
),

needles as (
    select distinct
        markers_hash,
        probe,
        category,
        marker,
        scheme,
        matched_as,
        -- What plain text search looks for: a word with the blanks on both sides, a stem with the one before it.
        case matched_as
            when 'substring' then marker
            when 'stem' then rtrim({{ padded_words("marker") }})
            else {{ padded_words("marker") }}
        end as needle
    from matched_as
)

select * from needles
