-- How good is a recommender? The measures of table 3 of Shen et al. (2022), by city.
{{ config(enabled='prices' in env_var('BIASLEDGER_METHODS', 'prices')) }}

select
    recommender,
    city,
    system,
    max(case when relevant = 'venue' and measure = 'precision' then value end) as precision,
    max(case when relevant = 'venue' and measure = 'recall' then value end) as recall,
    max(case when relevant = 'venue' and measure = 'f1' then value end) as f1,
    max(case when relevant = 'venue' and measure = 'mrr' then value end) as mrr,
    max(case when relevant = 'venue' and measure = 'accuracy' then value end) as accuracy,
    max(case when relevant = 'venue' and measure = 'hit_rate_at_5' then value end) as hit_rate_at_5,
    max(case when relevant = 'venue' and measure = 'hit_rate_at_10' then value end) as hit_rate_at_10,
    max(case when relevant = 'venue' and measure = 'hit_rate_at_20' then value end) as hit_rate_at_20,
    max(case when relevant = 'category' and measure = 'precision_at_5' then value end) as category_precision_at_5,
    max(case when relevant = 'category' and measure = 'precision_at_10' then value end) as category_precision_at_10,
    max(case when relevant = 'category' and measure = 'precision_at_20' then value end) as category_precision_at_20,
    max(case when relevant = 'category' and measure = 'r_precision' then value end) as category_r_precision,
    max(case when relevant = 'category' and measure = 'map' then value end) as category_map,
    max(case when relevant = 'category' and measure = 'mrr' then value end) as category_mrr,
    max(case when relevant = 'category' and measure = 'ndcg' then value end) as category_ndcg
from {{ ref("fct_recommender_quality") }}
where texts = 'all'
group by recommender, city, system
order by recommender, case when city = '(mean)' then 1 else 0 end, city, system
