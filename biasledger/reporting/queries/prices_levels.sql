-- Price percentage score: each group's share of the items of a price level; mean over the data sets, or each by itself.
with

levels as (
    select
        price_levels.*,
        findings.finding_id,
        runs.noun_items,
        count(distinct price_levels.group_name)
            over (partition by price_levels.attribute, price_levels.domain) as n_groups,
        min(price_levels.p_value_adjusted) over (partition by price_levels.attribute) as least_p_value
    from marts.fct_price_levels as price_levels
    inner join marts.dim_runs as runs on price_levels.run_id = runs.run_id
    left join marts.fct_findings as findings
        on
            price_levels.contrast_id = findings.contrast_id
            and findings.measure = 'price_share'
    where
        price_levels.run_id = $run_id
        and price_levels.mitigation = 'plain'
)

select
    domain,
    attribute,
    group_name,
    finding_id,
    price_level,
    share,
    -- The interval is that of excess, which is the share less a constant.
    greatest(share + interval_low - excess, 0) as share_low,
    least(share + interval_high - excess, 1) as share_high,
    domains_low,
    domains_high,
    expected_share,
    excess,
    p_value_adjusted,
    n_items,
    noun_items,
    n_groups
from levels
where
    -- More groups than this cannot be distinguished; the picture of mean prices shows them all.
    n_groups <= 5
    -- Data sets are drawn of one attribute, of those with few groups the one that differs most surely.
    and (
        $domains = 'all' and domain = '(all)'
        or $domains = 'each' and (levels.is_crossed, levels.least_p_value, levels.attribute) = (
            select (surest.is_crossed, surest.least_p_value, surest.attribute)
            from levels as surest
            where surest.n_groups <= 5
            order by surest.is_crossed, surest.least_p_value nulls last, surest.attribute
            limit 1
        )
    )
order by
    is_crossed,
    least_p_value nulls last,
    attribute,
    domain <> '(all)',
    domain,
    is_reference desc,
    group_name,
    price_level
