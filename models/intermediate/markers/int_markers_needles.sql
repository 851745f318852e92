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
        -- As in answers, hip-hop is two words, and one token between white space.
        if(matched_as = 'substring', marker, {{ marker_words("marker") }}) as needle,
        contains(needle, ' ') as is_phrase
    from matched_as
)

select * from needles
