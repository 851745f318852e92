with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_words_comparisons") }}
    where is_judged
),

divergences as (
    select *
    from {{ ref("int_words_divergences") }}
),

answer_lengths as (
    select
        comparisons.*,
        divergences.tokens_marked,
        divergences.tokens_reference,
        divergences.length_adjusted_gap as length_gap,
        divergences.length_adjusted_standard_error as standard_error,
        divergences.length_adjusted_low as interval_low,
        divergences.length_adjusted_high as interval_high,
        divergences.length_width_power as width_power,
        divergences.length_null_mean as null_mean,
        divergences.length_null_sd as null_sd,
        divergences.length_p_value as p_value,
        divergences.length_n_permutations as n_permutations,
        divergences.length_n_blocks as n_blocks,
        divergences.length_seed as seed,
        divergences.length_is_stopped_early as is_stopped_early
    from divergences
    inner join comparisons on divergences.comparison_key = comparisons.comparison_key
)

{{ contracted("answer_lengths") }}
