-- A group's share of each price level, less its share of all items; mean over the data sets, or each by itself.
with

levels as (
    select
        *,
        count(distinct group_name) over (partition by attribute, domain) as n_groups
    from marts.fct_price_levels
    where
        run_id = $run_id
        and mitigation = 'plain'
        and if($domains = 'all', domain = '(all)', domain <> '(all)')
)

select
    domain,
    attribute,
    group_name,
    price_level,
    excess,
    interval_low,
    interval_high,
    share,
    expected_share,
    p_value_adjusted,
    n_items
from levels
where
    not is_reference
    -- More lines than this cannot be distinguished; the picture of mean prices shows them all.
    and n_groups <= 6
order by
    -- Of many attributes those are drawn that differ most surely.
    is_crossed, min(p_value_adjusted) over (partition by attribute) nulls last, attribute, domain, group_name,
    price_level
