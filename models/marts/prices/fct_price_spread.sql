with

comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where comparison = 'all_groups'
),

spreads as (
    select *
    from {{ ref("int_prices_spreads") }}
),

price_spread as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.groups[spreads.highest_label + 1] as varchar) as dearest_group,
        cast(comparisons.groups[spreads.lowest_label + 1] as varchar) as cheapest_group,
        cast(comparisons.n_groups as integer) as n_groups,
        cast(spreads.spread as double) as spread,
        {{ double_or_null("spreads.chance") }} as chance,
        {{ double_or_null("spreads.debiased") }} as debiased,
        {{ double_or_null("spreads.standard_error") }} as standard_error,
        {{ double_or_null("spreads.interval_low") }} as interval_low,
        {{ double_or_null("spreads.interval_high") }} as interval_high,
        {{ double_or_null("spreads.null_mean") }} as null_mean,
        {{ double_or_null("spreads.null_sd") }} as null_sd,
        {{ double_or_null("spreads.p_value") }} as p_value,
        cast(comparisons.unit_kind as varchar) as unit_kind,
        cast(comparisons.n_sets as integer) as n_domains,
        cast(spreads.n_clusters as bigint) as n_clusters,
        cast(spreads.n_permutations as integer) as n_permutations,
        cast(spreads.seed as bigint) as seed,
        cast(comparisons.is_crossed as boolean) as is_crossed,
        cast(spreads.is_stopped_early as boolean) as is_stopped_early
    from spreads
    inner join comparisons on spreads.comparison_key = comparisons.comparison_key
)

select * from price_spread
