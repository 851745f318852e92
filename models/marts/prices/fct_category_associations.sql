with

comparisons as (
    select
        *,
        len(domains) as n_domains
    from {{ ref("int_prices_association_comparisons") }}
),

associations as (
    select *
    from {{ ref("int_prices_associations") }}
),

prices_runs as (
    select
        run_id,
        category_sets
    from {{ ref("int_prices_runs") }}
),

named_sets as (
    select
        run_id,
        category_sets,
        unnest(json_keys(category_sets)) as category_set
    from prices_runs
    where category_sets is not null
),

set_members as (
    select
        run_id,
        category_set,
        unnest(from_json(json_extract(category_sets, '$."' || category_set || '"'), '["VARCHAR"]')) as category
    from named_sets
),

category_sets as (
    select
        run_id,
        category,
        string_agg(category_set, ', ' order by category_set) as category_set
    from set_members
    group by run_id, category
),

item_counts as (
    select
        comparison_key,
        sum(n) as n_items
    from {{ ref("int_prices_category_counts") }}
    where category_id is null
    group by comparison_key
),

units as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        domain,
        category,
        n
    from {{ ref("int_prices_category_units") }}
),

domain_counts as (
    select
        comparisons.comparison_key,
        units.domain,
        units.category,
        coalesce(sum(units.n order by units.n) filter (where units.group_name = comparisons.group_name), 0) as n_marked,
        coalesce(
            sum(units.n order by units.n) filter (where units.group_name = comparisons.reference_group), 0
        ) as n_reference
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.attribute = units.attribute
            and units.group_name in (comparisons.group_name, comparisons.reference_group)
            and list_contains(comparisons.domains, units.domain)
    where comparisons.n_domains > 1
    group by comparisons.comparison_key, units.domain, units.category
),

-- A null category counts all items.
domain_totals as (
    select
        comparison_key,
        domain,
        n_marked,
        n_reference
    from domain_counts
    where category is null
),

-- A domain without the category has no score.
domain_differences as (
    select
        domain_counts.comparison_key,
        domain_counts.domain,
        domain_counts.category,
        (domain_counts.n_marked / domain_totals.n_marked - domain_counts.n_reference / domain_totals.n_reference)
        / (
            (domain_counts.n_marked + domain_counts.n_reference)
            / (domain_totals.n_marked + domain_totals.n_reference)
        ) as difference
    from domain_counts
    inner join domain_totals
        on
            domain_counts.comparison_key = domain_totals.comparison_key
            and domain_counts.domain = domain_totals.domain
    where domain_counts.category is not null
),

over_domains as (
    select
        comparison_key,
        category,
        count(*) as n_domains,
        avg(difference order by domain) as domains_mean,
        stddev_samp(difference order by domain) as domains_sd
    from domain_differences
    group by comparison_key, category
),

named as (
    select
        comparisons.*,
        item_counts.n_items,
        associations.category_id,
        associations.n_marked,
        associations.n_reference,
        associations.share_marked,
        associations.share_reference,
        associations.difference,
        associations.ratio,
        associations.standard_error,
        associations.interval_low,
        associations.interval_high,
        associations.adjusted_difference,
        associations.adjusted_low,
        associations.adjusted_high,
        associations.band_low,
        associations.band_high,
        associations.null_mean,
        associations.null_sd,
        associations.p_value,
        associations.p_value_adjusted,
        associations.is_stopped_early,
        -- Fewer than the comparison asks for where the test stopped early.
        associations.n_permutations as n_drawn,
        associations.seed as drawn_seed,
        comparisons.categories[associations.category_id + 1] as category
    from associations
    inner join comparisons on associations.comparison_key = comparisons.comparison_key
    inner join item_counts on associations.comparison_key = item_counts.comparison_key
),

category_associations as (
    select
        cast(named.run_id as varchar) as run_id,
        cast(named.variant as varchar) as variant,
        cast(named.attribute as varchar) as attribute,
        cast(named.group_name as varchar) as group_name,
        cast(named.reference_group as varchar) as reference_group,
        cast(named.category as varchar) as category,
        cast(category_sets.category_set as varchar) as category_set,
        cast(named.n_marked as double) as n_marked,
        cast(named.n_reference as double) as n_reference,
        cast(named.n_items as double) as n_items,
        cast(named.share_marked as double) as share_marked,
        cast(named.share_reference as double) as share_reference,
        {{ double_or_null("named.difference") }} as difference,
        {{ double_or_null("named.ratio") }} as ratio,
        {{ double_or_null("named.standard_error") }} as standard_error,
        {{ double_or_null("named.interval_low") }} as interval_low,
        {{ double_or_null("named.interval_high") }} as interval_high,
        {{ double_or_null("named.adjusted_difference") }} as adjusted_difference,
        {{ double_or_null("named.adjusted_low") }} as adjusted_low,
        {{ double_or_null("named.adjusted_high") }} as adjusted_high,
        {{ double_or_null("named.band_low") }} as band_low,
        {{ double_or_null("named.band_high") }} as band_high,
        {{ double_or_null("named.null_mean") }} as null_mean,
        {{ double_or_null("named.null_sd") }} as null_sd,
        {{ double_or_null("named.p_value") }} as p_value,
        {{ double_or_null("named.p_value_adjusted") }} as p_value_adjusted,
        cast(over_domains.domains_mean as double) as domains_mean,
        cast(over_domains.domains_sd as double) as domains_sd,
        cast(
            over_domains.domains_mean
            - {{ t_quantile_975("over_domains.n_domains - 1") }}
            * over_domains.domains_sd / sqrt(over_domains.n_domains) as double
        ) as domains_low,
        cast(
            over_domains.domains_mean
            + {{ t_quantile_975("over_domains.n_domains - 1") }}
            * over_domains.domains_sd / sqrt(over_domains.n_domains) as double
        ) as domains_high,
        cast(coalesce(over_domains.n_domains, 1) as integer) as n_domains,
        cast(named.n_drawn as integer) as n_permutations,
        cast(named.drawn_seed as bigint) as seed,
        cast(named.is_crossed as boolean) as is_crossed,
        cast(coalesce(named.p_value_adjusted < named.alpha, false) as boolean) as is_associated,
        cast(named.is_stopped_early as boolean) as is_stopped_early
    from named
    left join category_sets
        on
            named.run_id = category_sets.run_id
            and named.category = category_sets.category
    left join over_domains
        on
            named.comparison_key = over_domains.comparison_key
            and named.category = over_domains.category
)

select * from category_associations
