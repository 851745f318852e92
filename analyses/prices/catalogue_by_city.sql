-- How large are the catalogues? Reviews, items, categories and price levels by city, as in Shen et al. (2022).
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

with

shares as (
    select
        catalogue,
        domain,
        max(case when price_level = 1 then share end) as share_of_price_level_1,
        max(case when price_level = 2 then share end) as share_of_price_level_2,
        max(case when price_level = 3 then share end) as share_of_price_level_3,
        max(case when price_level = 4 then share end) as share_of_price_level_4
    from {{ ref("fct_catalogue_prices") }}
    group by catalogue, domain
)

select
    statistics.catalogue,
    statistics.domain as city,
    statistics.n_reviews,
    statistics.n_items,
    statistics.max_reviews as reviews_of_most_rated_item,
    statistics.n_categories,
    statistics.top_categories,
    statistics.max_categories,
    shares.share_of_price_level_1,
    shares.share_of_price_level_2,
    shares.share_of_price_level_3,
    shares.share_of_price_level_4
from {{ ref("fct_catalogue_statistics") }} as statistics
left join shares
    on
        statistics.catalogue = shares.catalogue
        and statistics.domain = shares.domain
order by statistics.catalogue, case when statistics.domain = '(all)' then 1 else 0 end, statistics.domain
