with

items as (
    select
        catalogue,
        catalogue_hash,
        coalesce(domain, '(all)') as domain,
        price_level
    from {{ ref("stg_ledger__items") }}
),

-- A catalogue of several places is counted as a whole, too.
counted_items as (
    select * from items
    union all by name
    select
        catalogue,
        catalogue_hash,
        '(all)' as domain,
        price_level
    from items
    where domain <> '(all)'
),

level_counts as (
    select
        catalogue,
        catalogue_hash,
        domain,
        price_level,
        count(*) as n_items
    from counted_items
    group by catalogue, catalogue_hash, domain, price_level
),

catalogue_prices as (
    select
        * replace (coalesce(price_level, 0) as price_level),
        if(
            price_level is null, null,
            n_items / sum(n_items) filter (where price_level is not null) over (partition by catalogue, domain)
        ) as share
    from level_counts
)

{{ contracted("catalogue_prices") }}
