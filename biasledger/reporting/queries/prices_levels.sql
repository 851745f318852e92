-- Price percentage score: each group's share of the items of a price level; mean over the data sets, or each by itself.
with

levels as (
    select
        *,
        count(distinct group_name) over (partition by attribute, domain) as n_groups,
        min(p_value_adjusted) over (partition by attribute) as least_p_value
    from marts.fct_price_levels
    where
        run_id = $run_id
        and mitigation = 'plain'
)

select
    domain,
    attribute,
    group_name,
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
