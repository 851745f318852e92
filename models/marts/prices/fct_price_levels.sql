with

comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where
        topic = 'prices'
        and is_of_all_groups
),

members as (
    select
        comparison_key,
        label,
        cluster_id
    from {{ ref("int_prices_counts") }}
),

levels as (
    select *
    from {{ ref("int_prices_levels") }}
),

-- In pairs every word is in both groups.
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
        comparisons.unit_kind = 'descriptors'
        and comparisons.kind <> 'same'
),

price_levels as (
    select
        {{ contrast_of_label("comparisons", "levels.label") }} as contrast_id,
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.attribute,
        comparisons.unit_kind,
        comparisons.is_crossed,
        levels.*,
        levels.level as price_level,
        levels.n as n_items,
        levels.n_level as n_items_of_level,
        levels.sets_sd as domains_sd,
        levels.sets_low as domains_low,
        levels.sets_high as domains_high,
        shares_of_words.share_of_words,
        comparisons.n_sets as n_domains,
        comparisons.groups[levels.label + 1] as group_name,
        if(levels.set_id = -1, '(all)', comparisons.domains[levels.set_id + 1]) as domain,
        comparisons.has_reference and levels.label = 0 as is_reference
    from levels
    inner join comparisons on levels.comparison_key = comparisons.comparison_key
    left join shares_of_words
        on
            levels.comparison_key = shares_of_words.comparison_key
            and levels.label = shares_of_words.label
    -- A single domain is all there is.
    where levels.set_id = -1 or comparisons.n_sets > 1
)

{{ contracted("price_levels") }}
