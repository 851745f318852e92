with

items as (
    select *
    from {{ ref("int_prices_items") }}
),

recommended_items as (
    select
        cast(run_id as varchar) as run_id,
        cast(prompt_id as varchar) as prompt_id,
        cast(variant as varchar) as variant,
        cast(domain as varchar) as domain,
        cast(item as varchar) as item,
        cast(categories as varchar[]) as categories,
        cast(trial as integer) as trial,
        cast(place as integer) as place,
        cast(price_level as integer) as price_level,
        cast(n as double) as n,
        cast(is_in_catalogue as boolean) as is_in_catalogue
    from items
)

select * from recommended_items
