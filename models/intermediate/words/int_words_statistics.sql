{{ config(materialized="view") }}

select
    comparison_key,
    seed,
    unnest(word_spelling) as word,
    unnest(word_n_marked) as n_marked,
    unnest(word_n_reference) as n_reference,
    unnest(word_n_marked_answers) as n_marked_answers,
    unnest(word_n_reference_answers) as n_reference_answers,
    unnest(word_n_units_using) as n_units_using,
    unnest(word_log_odds) as log_odds,
    unnest(word_variance) as variance,
    unnest(word_z_score) as z_score,
    unnest(word_z_score_informative) as z_score_informative,
    unnest(word_p_value) as p_value,
    unnest(word_p_value_adjusted) as p_value_adjusted,
    unnest(word_band_low) as band_low,
    unnest(word_band_high) as band_high,
    unnest(word_contribution) as contribution,
    unnest(word_signed_share) as signed_share,
    word_n_permutations as n_permutations,
    word_n_blocks as n_blocks
from {{ ref("int_words_differences") }}
