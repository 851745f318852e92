with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        scheme,
        attribute,
        comparison,
        group_name,
        reference_group,
        alpha
    from {{ ref("int_words_comparisons") }}
),

word_statistics as (
    select *
    from {{ ref("int_words_statistics") }}
),

marked_words as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.comparison as varchar) as comparison,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        cast(word_statistics.word as varchar) as word,
        cast(word_statistics.n_marked as double) as n_marked,
        cast(word_statistics.n_reference as double) as n_reference,
        cast(word_statistics.n_units_using as bigint) as n_units_using,
        cast(word_statistics.log_odds as double) as log_odds,
        cast(word_statistics.variance as double) as variance,
        cast(word_statistics.z_score as double) as z_score,
        cast(word_statistics.z_score_informative as double) as z_score_informative,
        {{ double_or_null("word_statistics.band_low") }} as log_odds_low,
        {{ double_or_null("word_statistics.band_high") }} as log_odds_high,
        {{ double_or_null("word_statistics.p_value") }} as p_value,
        {{ double_or_null("word_statistics.p_value_adjusted") }} as p_value_adjusted,
        cast(word_statistics.n_permutations as integer) as n_permutations,
        cast(word_statistics.seed as bigint) as seed,
        -- The published rule, without a null.
        cast(abs(word_statistics.z_score) > 1.96 as boolean) as is_marked_published,
        cast(abs(word_statistics.z_score) between 1.90 and 1.96 as boolean) as is_borderline_published,
        -- A word that was not tested, NaN or null, is not marked; NaN sorts above every number.
        cast(
            coalesce(
                abs(word_statistics.z_score) > 1.96 and word_statistics.p_value_adjusted < comparisons.alpha, false
            ) as boolean
        ) as is_marked
    from word_statistics
    inner join comparisons on word_statistics.comparison_key = comparisons.comparison_key
)

select * from marked_words
