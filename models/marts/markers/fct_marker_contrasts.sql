with

comparisons as (
    select *
    from {{ ref("int_markers_list_comparisons") }}
),

associations as (
    select *
    from {{ ref("int_markers_associations") }}
),

marker_counts as (
    select *
    from {{ ref("fct_marker_counts") }}
),

named as (
    select
        comparisons.*,
        comparisons.categories[associations.category_id + 1] as list,
        associations.difference,
        associations.ratio,
        associations.standard_error,
        associations.interval_low,
        associations.interval_high,
        associations.band_low,
        associations.band_high,
        associations.null_mean,
        associations.null_sd,
        associations.p_value,
        associations.p_value_adjusted,
        associations.is_stopped_early,
        -- Fewer than the comparison asks for where the test stopped early.
        associations.n_permutations as n_drawn,
        associations.seed as drawn_seed
    from associations
    inner join comparisons on associations.comparison_key = comparisons.comparison_key
),

marker_contrasts as (
    select
        cast(named.run_id as varchar) as run_id,
        cast(named.variant as varchar) as variant,
        cast(named.scheme as varchar) as scheme,
        cast(named.attribute as varchar) as attribute,
        cast(named.group_name as varchar) as group_name,
        cast(named.reference_group as varchar) as reference_group,
        cast(named.list as varchar) as list,
        cast(named.unit_kind as varchar) as unit_kind,
        cast(marked.n_hits as bigint) as n_marked,
        cast(reference.n_hits as bigint) as n_reference,
        cast(marked.n_tokens as bigint) as n_tokens_marked,
        cast(reference.n_tokens as bigint) as n_tokens_reference,
        -- The source's script adds 0.001 to all four counts.
        cast(
            ((marked.n_hits + 0.001) / (marked.n_tokens - marked.n_hits + 0.001))
            / ((reference.n_hits + 0.001) / (reference.n_tokens - reference.n_hits + 0.001)) as double
        ) as odds_ratio,
        {{ double_or_null("named.difference") }} as difference,
        {{ double_or_null("named.ratio") }} as ratio,
        {{ double_or_null("named.standard_error") }} as standard_error,
        {{ double_or_null("named.interval_low") }} as interval_low,
        {{ double_or_null("named.interval_high") }} as interval_high,
        {{ double_or_null("named.band_low") }} as band_low,
        {{ double_or_null("named.band_high") }} as band_high,
        {{ double_or_null("named.null_mean") }} as null_mean,
        {{ double_or_null("named.null_sd") }} as null_sd,
        {{ double_or_null("named.p_value") }} as p_value,
        {{ double_or_null("named.p_value_adjusted") }} as p_value_adjusted,
        cast(named.n_marked_units as bigint) as n_marked_units,
        cast(named.n_reference_units as bigint) as n_reference_units,
        cast(named.n_drawn as integer) as n_permutations,
        cast(named.drawn_seed as bigint) as seed,
        cast(named.is_crossed as boolean) as is_crossed,
        cast(named.is_judged as boolean) as is_judged,
        cast(coalesce(named.p_value_adjusted < named.alpha, false) as boolean) as is_associated,
        cast(named.is_stopped_early as boolean) as is_stopped_early
    from named
    inner join marker_counts as marked
        on
            named.run_id = marked.run_id
            and named.variant = marked.variant
            and named.scheme = marked.scheme
            and named.attribute = marked.attribute
            and named.group_name = marked.group_name
            and named.list = marked.list
    inner join marker_counts as reference
        on
            named.run_id = reference.run_id
            and named.variant = reference.variant
            and named.scheme = reference.scheme
            and named.attribute = reference.attribute
            and named.reference_group = reference.group_name
            and named.list = reference.list
)

select * from marker_contrasts
