{%- set runs = new_runs(ref("int_lists_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_lists_runs", told_by="run_id") }}

with

list_similarity as (
    select
        *,
        k - n_written as n_places_empty
    from {{ ref("int_lists_compared_pairs") }}
    where {{ is_of_runs("run_id", runs) }}
)

{{ contracted("list_similarity") }}
