with

entropies as (
    select *
    from {{ ref("int_lists_entropies") }}
),

recommendation_entropy as (
    select
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(scheme as varchar) as scheme,
        cast(domain as varchar) as domain,
        cast(subject as varchar) as subject,
        cast(pool as varchar) as pool,
        cast(pool_key as varchar) as pool_key,
        cast(asked_about as varchar) as asked_about,
        cast(group_name as varchar) as group_name,
        cast(n_lists as integer) as n_lists,
        cast(n_distinct_items as integer) as n_distinct_items,
        cast(entropy as double) as entropy,
        -- A list that never changes has log2 of its length, which says nothing about uncertainty.
        cast(entropy - log2(k) as double) as excess_entropy,
        cast(mean_jaccard as double) as mean_jaccard,
        cast(share_identical as double) as share_identical
    from entropies
)

select * from recommendation_entropy
