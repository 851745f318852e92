with

responses as (
    select *
    from {{ ref("int_lists_responses") }}
),

places as (
    select *
    from {{ ref("int_lists_places") }}
),

list_items as (
    select
        cast(responses.run_id as varchar) as run_id,
        cast(responses.scheme as varchar) as scheme,
        cast(responses.prompt_id as varchar) as prompt_id,
        cast(responses.variant as varchar) as variant,
        cast(responses.wording as varchar) as wording,
        cast(responses.domain as varchar) as domain,
        cast(responses.subject as varchar) as subject,
        cast(responses.template as varchar) as template,
        cast(responses.attribute as varchar) as attribute,
        cast(responses.group_name as varchar) as group_name,
        cast(places.written_item as varchar) as written_item,
        cast(places.item as varchar) as item,
        cast(responses.trial as integer) as trial,
        cast(places.place as integer) as place,
        cast(places.item_rank as integer) as item_rank,
        cast(places.is_repeat as boolean) as is_repeat
    from responses
    inner join places
        on
            responses.lists_key = places.lists_key
            and responses.list_key = places.list_key
)

select * from list_items
