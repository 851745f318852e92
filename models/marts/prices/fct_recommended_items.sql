with

recommended_items as (
    select *
    from {{ ref("int_prices_items") }}
)

{{ contracted("recommended_items") }}
