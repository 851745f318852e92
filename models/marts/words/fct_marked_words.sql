{{ config(materialized="by_run") }}

with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ run_rows("int_words_comparisons") }}
),

word_statistics as (
    select *
    from {{ ref("int_words_statistics") }}
),

marked_words as (
    select
        comparisons.*,
        word_statistics.*,
        word_statistics.n_marked as n_group_uses,
        word_statistics.n_reference as n_reference_uses,
        word_statistics.n_marked_answers as n_group_answers_using,
        word_statistics.n_reference_answers as n_reference_answers_using,
        word_statistics.band_low as log_odds_low,
        word_statistics.band_high as log_odds_high,
        -- The published rule, without a null.
        abs(word_statistics.z_score) > 1.96 as is_marked_published,
        abs(word_statistics.z_score) between 1.90 and 1.96 as is_borderline_published,
        -- A word that was not tested, NaN or null, is not marked; NaN sorts above every number.
        coalesce(
            abs(word_statistics.z_score) > 1.96 and word_statistics.p_value_adjusted < comparisons.alpha, false
        ) as is_marked
    from word_statistics
    inner join comparisons on word_statistics.comparison_key = comparisons.comparison_key
)

{{ contracted("marked_words") }}
