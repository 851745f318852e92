with

items as (
    select
        catalogue,
        catalogue_hash,
        item_id,
        name as item,
        price_level,
        categories,
        domain,
        n_reviews,
        imported_at
    from {{ source("ledger", "items") }}
),

-- A changed catalogue is imported again as a whole; the earlier one is evidence.
latest_items as (
    select *
    from items
    qualify imported_at = max(imported_at) over (partition by catalogue)
)

select * from latest_items
