{%- set runs = new_runs(ref("int_lists_runs")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_lists_runs", told_by="run_id") }}

with

responses as (
    select *
    from {{ ref("int_lists_responses") }}
    where {{ is_of_runs("run_id", runs) }}
),

places as (
    select *
    from {{ ref("int_lists_places") }}
),

list_items as (
    select
        responses.*,
        places.*
    from responses
    inner join places
        on
            responses.lists_key = places.lists_key
            and responses.list_key = places.list_key
)

{{ contracted("list_items") }}
