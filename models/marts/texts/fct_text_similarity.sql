with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_texts_comparisons") }}
    where outcome = 'similarity'
),

similarities as (
    select *
    from {{ ref("int_texts_similarities") }}
),

text_similarity as (
    select
        comparisons.*,
        similarities.*
    from comparisons
    inner join similarities on comparisons.comparison_key = similarities.comparison_key
)

{{ contracted("text_similarity") }}
