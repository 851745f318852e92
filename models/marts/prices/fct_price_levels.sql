with

comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where comparison = 'all_groups'
),

members as (
    select
        comparison_key,
        label,
        cluster_id
    from {{ ref("int_prices_members") }}
),

levels as (
    select *
    from {{ ref("int_prices_levels") }}
),

-- Of pairs every word is in both groups.
word_counts as (
    select
        comparison_key,
        label,
        count(distinct cluster_id) as n_words
    from members
    group by comparison_key, label
),

shares_of_words as (
    select
        word_counts.comparison_key,
        word_counts.label,
        word_counts.n_words / sum(word_counts.n_words) over (partition by word_counts.comparison_key) as share_of_words
    from word_counts
    inner join comparisons on word_counts.comparison_key = comparisons.comparison_key
    where
        comparisons.unit_kind = 'carriers'
        and comparisons.kind <> 'same'
),

price_levels as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.groups[levels.label + 1] as varchar) as group_name,
        cast(if(levels.set_id = -1, '(all)', comparisons.domains[levels.set_id + 1]) as varchar) as domain,
        cast(levels.level as integer) as price_level,
        cast(levels.n as double) as n_items,
        cast(levels.n_level as double) as n_items_of_level,
        cast(levels.share as double) as share,
        cast(levels.expected_share as double) as expected_share,
        cast(shares_of_words.share_of_words as double) as share_of_words,
        {{ double_or_null("levels.excess") }} as excess,
        {{ double_or_null("levels.standard_error") }} as standard_error,
        {{ double_or_null("levels.interval_low") }} as interval_low,
        {{ double_or_null("levels.interval_high") }} as interval_high,
        {{ double_or_null("levels.null_mean") }} as null_mean,
        {{ double_or_null("levels.null_sd") }} as null_sd,
        {{ double_or_null("levels.p_value") }} as p_value,
        {{ double_or_null("levels.p_value_adjusted") }} as p_value_adjusted,
        {{ double_or_null("levels.sets_sd") }} as domains_sd,
        {{ double_or_null("levels.sets_low") }} as domains_low,
        {{ double_or_null("levels.sets_high") }} as domains_high,
        cast(comparisons.unit_kind as varchar) as unit_kind,
        cast(comparisons.n_sets as integer) as n_domains,
        cast(levels.n_clusters as bigint) as n_clusters,
        cast(levels.n_permutations as integer) as n_permutations,
        cast(levels.seed as bigint) as seed,
        cast(comparisons.is_crossed as boolean) as is_crossed,
        cast(comparisons.has_reference and levels.label = 0 as boolean) as is_reference,
        cast(levels.is_stopped_early as boolean) as is_stopped_early
    from levels
    inner join comparisons on levels.comparison_key = comparisons.comparison_key
    left join shares_of_words
        on
            levels.comparison_key = shares_of_words.comparison_key
            and levels.label = shares_of_words.label
    -- A single domain is all there is.
    where levels.set_id = -1 or comparisons.n_sets > 1
)

select * from price_levels
