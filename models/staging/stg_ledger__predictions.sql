with

predictions as (
    select
        recommender,
        predictions_hash,
        city,
        review_id,
        user_id,
        business_id,
        predicted_business_id,
        rank,
        popularity_rank,
        category_precision_at_5,
        category_precision_at_10,
        category_precision_at_20,
        category_r_precision,
        category_map,
        category_mrr,
        category_ndcg,
        imported_at
    from {{ source("ledger", "predictions") }}
),

-- Predictions are imported again as a whole; the earlier ones are evidence.
latest_predictions as (
    select *
    from predictions
    qualify imported_at = max(imported_at) over (partition by recommender)
)

select * from latest_predictions
