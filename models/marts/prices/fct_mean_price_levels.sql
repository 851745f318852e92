with

comparisons as (
    select *
    from {{ ref("int_prices_comparisons") }}
    where comparison = 'all_groups'
),

means as (
    select *
    from {{ ref("int_prices_means") }}
),

mean_price_levels as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.groups[means.label + 1] as varchar) as group_name,
        cast(if(means.set_id = -1, '(all)', comparisons.domains[means.set_id + 1]) as varchar) as domain,
        cast(
            case
                when not comparisons.has_reference then '(mean of all)'
                when means.label > 0 then comparisons.groups[1]
            end as varchar
        ) as compared_with,
        cast(means.rank as integer) as price_rank,
        cast(means.n as double) as n_items,
        {{ double_or_null("means.mean_price") }} as mean_price_level,
        {{ double_or_null("means.standard_error") }} as standard_error,
        {{ double_or_null("means.interval_low") }} as interval_low,
        {{ double_or_null("means.interval_high") }} as interval_high,
        {{ double_or_null("means.gap") }} as gap,
        {{ double_or_null("means.gap_standard_error") }} as gap_standard_error,
        {{ double_or_null("means.gap_low") }} as gap_low,
        {{ double_or_null("means.gap_high") }} as gap_high,
        {{ double_or_null("means.adjusted_gap") }} as adjusted_gap,
        {{ double_or_null("means.adjusted_low") }} as adjusted_low,
        {{ double_or_null("means.adjusted_high") }} as adjusted_high,
        {{ double_or_null("means.null_mean") }} as null_mean,
        {{ double_or_null("means.null_sd") }} as null_sd,
        {{ double_or_null("means.p_value") }} as p_value,
        {{ double_or_null("means.p_value_adjusted") }} as p_value_adjusted,
        {{ double_or_null("means.sets_sd") }} as domains_sd,
        {{ double_or_null("means.sets_low") }} as domains_low,
        {{ double_or_null("means.sets_high") }} as domains_high,
        cast(comparisons.unit_kind as varchar) as unit_kind,
        cast(comparisons.n_sets as integer) as n_domains,
        cast(means.n_clusters as bigint) as n_clusters,
        cast(means.n_permutations as integer) as n_permutations,
        cast(means.seed as bigint) as seed,
        cast(comparisons.is_crossed as boolean) as is_crossed,
        cast(comparisons.has_reference and means.label = 0 as boolean) as is_reference,
        cast(means.is_stopped_early as boolean) as is_stopped_early
    from means
    inner join comparisons on means.comparison_key = comparisons.comparison_key
    -- A single domain is all there is.
    where means.set_id = -1 or comparisons.n_sets > 1
)

select * from mean_price_levels
