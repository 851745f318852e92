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
),

divergences as (
    select *
    from {{ ref("int_words_divergences") }}
),

word_divergence as (
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
        cast(divergences.jsd as double) as jsd,
        -- The seed document's unit.
        cast(divergences.jsd * ln(2) as double) as jsd_nats,
        {{ double_or_null("divergences.jsd_judged") }} as jsd_judged,
        {{ double_or_null("divergences.null_mean") }} as null_mean,
        {{ double_or_null("divergences.null_sd") }} as null_sd,
        {{ double_or_null("divergences.jsd_judged - divergences.null_mean") }} as jsd_debiased,
        {{ double_or_null("divergences.standard_error") }} as standard_error,
        {{ double_or_null("divergences.interval_low") }} as interval_low,
        {{ double_or_null("divergences.interval_high") }} as interval_high,
        {{ double_or_null("divergences.p_value") }} as p_value,
        cast(divergences.n_permutations as integer) as n_permutations,
        cast(divergences.seed as bigint) as seed,
        cast(divergences.is_stopped_early as boolean) as is_stopped_early
    from divergences
    inner join comparisons on divergences.comparison_key = comparisons.comparison_key
)

select * from word_divergence
