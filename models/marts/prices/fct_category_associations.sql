with

-- Draws are those that were made: fewer than requested if the test stopped early.
comparisons as (
    select * exclude (n_permutations, seed, n_blocks)
    from {{ ref("int_prices_comparisons") }}
    where topic = 'categories'
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

-- A null category counts all items.
counts as (
    select *
    from {{ ref("int_prices_counts") }}
    where topic = 'categories'
),

item_counts as (
    select
        comparison_key,
        sum(n) as n_items
    from counts
    where category_id is null
    group by comparison_key
),

domain_counts as (
    select
        comparisons.comparison_key,
        comparisons.domains[counts.set_id + 1] as domain,
        comparisons.categories[counts.category_id + 1] as category,
        coalesce(sum(counts.n order by counts.n) filter (where counts.is_marked), 0) as n_marked,
        coalesce(sum(counts.n order by counts.n) filter (where not counts.is_marked), 0) as n_reference
    from comparisons
    inner join counts on comparisons.comparison_key = counts.comparison_key
    where len(comparisons.domains) > 1
    group by all
),

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
        associations.*,
        item_counts.n_items,
        comparisons.categories[associations.category_id + 1] as category
    from associations
    inner join comparisons on associations.comparison_key = comparisons.comparison_key
    inner join item_counts on associations.comparison_key = item_counts.comparison_key
),

category_associations as (
    select
        named.*,
        category_sets.category_set,
        over_domains.domains_mean,
        over_domains.domains_sd,
        over_domains.domains_mean
        - {{ t_quantile_975("over_domains.n_domains - 1") }}
        * over_domains.domains_sd / sqrt(over_domains.n_domains) as domains_low,
        over_domains.domains_mean
        + {{ t_quantile_975("over_domains.n_domains - 1") }}
        * over_domains.domains_sd / sqrt(over_domains.n_domains) as domains_high,
        coalesce(over_domains.n_domains, 1) as n_domains,
        coalesce(named.p_value_adjusted < named.alpha, false) as is_associated
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

{{ contracted("category_associations") }}
