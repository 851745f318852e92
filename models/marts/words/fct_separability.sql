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

separabilities as (
    select *
    from {{ ref("int_words_separabilities") }}
),

separability as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.comparison as varchar) as comparison,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        -- The source's bands.
        cast(
            case
                when isnan(separabilities.accuracy_mean) then 'skipped'
                when separabilities.accuracy_mean < 0.60 then 'not meaningful'
                when separabilities.accuracy_mean <= 0.80 then 'moderate'
                else 'high'
            end as varchar
        ) as published_band,
        cast(nullif(separabilities.skipped_reason, '') as varchar) as skipped_reason,
        cast(comparisons.n_marked_units as bigint) as n_marked_units,
        cast(comparisons.n_reference_units as bigint) as n_reference_units,
        {{ double_or_null("separabilities.accuracy_mean") }} as accuracy_mean,
        {{ double_or_null("separabilities.accuracy_sd") }} as accuracy_sd,
        {{ double_or_null("separabilities.balanced_accuracy") }} as balanced_accuracy,
        {{ double_or_null("separabilities.beyond_chance") }} as beyond_chance,
        {{ double_or_null("separabilities.chance") }} as chance,
        {{ double_or_null("separabilities.standard_error") }} as standard_error,
        {{ double_or_null("separabilities.interval_low") }} as interval_low,
        {{ double_or_null("separabilities.interval_high") }} as interval_high,
        {{ double_or_null("separabilities.null_mean") }} as null_mean,
        {{ double_or_null("separabilities.null_sd") }} as null_sd,
        {{ double_or_null("separabilities.p_value") }} as p_value,
        {{ double_or_null("separabilities.published_accuracy_mean") }} as published_accuracy_mean,
        {{ double_or_null("separabilities.published_accuracy_sd") }} as published_accuracy_sd,
        cast(separabilities.n_permutations as integer) as n_permutations,
        cast(separabilities.seed as bigint) as seed,
        cast(separabilities.is_stopped_early as boolean) as is_stopped_early
    from separabilities
    inner join comparisons on separabilities.comparison_key = comparisons.comparison_key
)

select * from separability
