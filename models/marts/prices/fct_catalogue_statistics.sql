with

items as (
    select
        catalogue,
        catalogue_hash,
        coalesce(domain, '(all)') as domain,
        price_level,
        n_reviews,
        from_json(categories, '["VARCHAR"]') as categories,
        max(price_level) over (partition by catalogue) as n_levels
    from {{ ref("stg_ledger__items") }}
),

-- A catalogue of several places is counted as a whole, too.
counted_items as (
    select * from items
    union all by name
    select * replace ('(all)' as domain)
    from items
    where domain <> '(all)'
),

item_categories as (
    select
        catalogue,
        domain,
        unnest(categories) as category
    from counted_items
),

category_counts as (
    select
        catalogue,
        domain,
        category,
        count(*) as n_items
    from item_categories
    group by catalogue, domain, category
),

-- Nearly every item has these two, so they do not distinguish items.
category_lists as (
    select
        catalogue,
        domain,
        count(*) as n_categories,
        list_slice(
            list(category order by n_items desc, category asc) filter (where category not in ('restaurants', 'food')),
            1,
            5
        ) as top_categories
    from category_counts
    group by catalogue, domain
),

item_counts as (
    select
        catalogue,
        domain,
        any_value(catalogue_hash) as catalogue_hash,
        sum(n_reviews) as n_reviews,
        max(n_reviews) as max_reviews,
        count(*) as n_items,
        max(len(categories)) as max_categories,
        count(price_level) as n_priced,
        any_value(n_levels) as n_levels,
        list(price_level) filter (where price_level is not null) as levels
    from counted_items
    group by catalogue, domain
),

priced_items as (
    select
        *,
        case
            when n_priced > 0
                then list_transform(
                    range(1, n_levels + 1),
                    lambda level: len(list_filter(levels, lambda one: one = level)) / n_priced
                )
        end as price_shares
    from item_counts
),

catalogue_statistics as (
    select
        priced_items.*,
        coalesce(category_lists.n_categories, 0) as n_categories,
        coalesce(category_lists.top_categories, []) as top_categories
    from priced_items
    left join category_lists
        on
            priced_items.catalogue = category_lists.catalogue
            and priced_items.domain = category_lists.domain
)

{{ contracted("catalogue_statistics") }}
