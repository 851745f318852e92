-- A group's share of each price level, less its share of all items; mean over the data sets.
with

sizes as (
    select
        run_id,
        variant,
        attribute,
        count(distinct group_name) as n_groups
    from marts.fct_price_levels
    group by all
)

select
    levels.attribute,
    levels.group_name,
    levels.price_level,
    levels.excess,
    levels.interval_low,
    levels.interval_high,
    levels.share,
    levels.expected_share,
    levels.p_value_adjusted,
    levels.n_items
from marts.fct_price_levels as levels
inner join sizes using (run_id, variant, attribute)
where
    levels.run_id = $run_id
    and levels.variant = 'plain'
    and levels.domain = '(all)'
    and not levels.is_reference
    -- More lines than this cannot be told apart; the picture of mean prices shows them all.
    and sizes.n_groups <= 6
order by levels.is_crossed, levels.attribute, levels.group_name, levels.price_level
