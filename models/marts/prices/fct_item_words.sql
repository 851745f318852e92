with

item_words as (
    select *
    from {{ ref("int_prices_item_words") }}
)

{{ contracted("item_words") }}
