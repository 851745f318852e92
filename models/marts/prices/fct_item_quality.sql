with

item_quality as (
    select *
    from {{ ref("int_prices_item_quality") }}
)

{{ contracted("item_quality") }}
