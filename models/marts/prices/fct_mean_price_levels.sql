with

comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where
        topic = 'prices'
        and is_of_all_groups
),

means as (
    select *
    from {{ ref("int_prices_means") }}
),

mean_price_levels as (
    select
        {{ contrast_of_label("comparisons", "means.label") }} as contrast_id,
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.attribute,
        comparisons.unit_kind,
        comparisons.is_crossed,
        means.*,
        means.rank as rank_from_dearest,
        means.n as n_items,
        means.mean_price as mean_price_level,
        means.sets_sd as domains_sd,
        means.sets_low as domains_low,
        means.sets_high as domains_high,
        comparisons.n_sets as n_domains,
        comparisons.groups[means.label + 1] as group_name,
        if(means.set_id = -1, '(all)', comparisons.domains[means.set_id + 1]) as domain,
        case
            when not comparisons.has_reference then '(all)'
            when means.label > 0 then comparisons.groups[1]
        end as reference_group,
        comparisons.has_reference and means.label = 0 as is_reference
    from means
    inner join comparisons on means.comparison_key = comparisons.comparison_key
    -- A single domain is all there is.
    where means.set_id = -1 or comparisons.n_sets > 1
)

{{ contracted("mean_price_levels") }}
