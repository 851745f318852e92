with

tokens as (
    select *
    from {{ ref("int_markers_tokens") }}
),

lengths as (
    select
        text_key,
        cut,
        sum(n_occurrences) as n_tokens
    from tokens
    group by text_key, cut
)

select * from lengths
