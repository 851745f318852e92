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
        n_marked_units,
        n_reference_units
    from {{ ref("int_words_comparisons") }}
    where is_judged
),

divergences as (
    select *
    from {{ ref("int_words_divergences") }}
),

answer_lengths as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.comparison as varchar) as comparison,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        cast(comparisons.n_marked_units as bigint) as n_marked_units,
        cast(comparisons.n_reference_units as bigint) as n_reference_units,
        {{ double_or_null("divergences.tokens_marked") }} as tokens_marked,
        {{ double_or_null("divergences.tokens_reference") }} as tokens_reference,
        {{ double_or_null("divergences.length_adjusted_gap") }} as length_gap,
        {{ double_or_null("divergences.length_adjusted_standard_error") }} as standard_error,
        {{ double_or_null("divergences.length_adjusted_low") }} as interval_low,
        {{ double_or_null("divergences.length_adjusted_high") }} as interval_high,
        {{ double_or_null("divergences.length_width_power") }} as width_power,
        {{ double_or_null("divergences.length_null_mean") }} as null_mean,
        {{ double_or_null("divergences.length_null_sd") }} as null_sd,
        {{ double_or_null("divergences.length_p_value") }} as p_value,
        cast(divergences.length_n_permutations as integer) as n_permutations,
        cast(divergences.length_seed as bigint) as seed,
        cast(divergences.length_is_stopped_early as boolean) as is_stopped_early
    from divergences
    inner join comparisons on divergences.comparison_key = comparisons.comparison_key
)

select * from answer_lengths
