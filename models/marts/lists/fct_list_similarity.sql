with

list_similarity as (
    select
        *,
        k - n_written as n_places_empty
    from {{ ref("int_lists_compared_pairs") }}
)

{{ contracted("list_similarity") }}
