with

recommendation_entropy as (
    select
        *,
        -- A list that never changes has log2 of its length, which says nothing about uncertainty.
        entropy - log2(k) as excess_entropy
    from {{ ref("int_lists_entropies") }}
)

{{ contracted("recommendation_entropy") }}
