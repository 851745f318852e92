with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
),

divergences as (
    select *
    from {{ ref("int_words_divergences") }}
),

word_divergence as (
    select
        comparisons.*,
        divergences.*,
        -- The seed document's unit.
        divergences.jsd * ln(2) as jsd_nats,
        divergences.jsd_judged - divergences.null_mean as jsd_debiased
    from divergences
    inner join comparisons on divergences.comparison_key = comparisons.comparison_key
)

{{ contracted("word_divergence") }}
