with

recommenders as (
    select distinct
        recommender,
        predictions_hash
    from {{ ref("stg_ledger__predictions") }}
),

quality as (
    select *
    from {{ ref("int_prices_recommender_quality") }}
),

recommender_quality as (
    select
        recommenders.recommender,
        quality.*
    from quality
    inner join recommenders on quality.predictions_hash = recommenders.predictions_hash
)

{{ contracted("recommender_quality") }}
