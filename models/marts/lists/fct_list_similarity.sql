{{ config(materialized="by_run") }}

with

list_similarity as (
    select
        *,
        k - n_written as n_places_empty
    from {{ run_rows("int_lists_similarities") }}
)

{{ contracted("list_similarity") }}
