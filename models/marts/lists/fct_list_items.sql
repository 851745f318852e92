{{ config(materialized="by_run") }}

with

responses as (
    select *
    from {{ run_rows("int_lists_responses") }}
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
            responses.list_key = places.list_key
)

{{ contracted("list_items") }}
