with

comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where topic = 'prices'
),

spreads as (
    select *
    from {{ ref("int_prices_spreads") }}
),

price_spread as (
    select
        comparisons.contrast_id,
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.attribute,
        comparisons.unit_kind,
        comparisons.n_groups,
        comparisons.is_crossed,
        spreads.*,
        comparisons.n_sets as n_domains,
        comparisons.groups[spreads.highest_label + 1] as dearest_group,
        comparisons.groups[spreads.lowest_label + 1] as cheapest_group
    from spreads
    inner join comparisons on spreads.comparison_key = comparisons.comparison_key
)

{{ contracted("price_spread") }}
