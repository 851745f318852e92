with

comparisons as (
    select *
    from {{ ref("int_answers_gap_comparisons") }}
),

gaps as (
    select *
    from {{ ref("int_answers_gaps") }}
),

measured as (
    select
        comparisons.* replace (
            if(gaps.unit = 'name', 'name', comparisons.unit) as unit
        ),
        gaps.p_case,
        gaps.p_name,
        gaps.n_names,
        gaps.adjusted_gap,
        gaps.adjusted_low,
        gaps.adjusted_high,
        gaps.adjusted_standard_error,
        gaps.null_mean,
        gaps.null_sd,
        gaps.p_value,
        gaps.n_permutations as n_drawn,
        gaps.seed as gap_seed,
        gaps.is_stopped_early,
        -- Where nothing of the kind happened: how much of it so many prompts, or answers, may have missed.
        least(
            1, 3 * ln(comparisons.alpha) / ln(0.05)
            / if(
                comparisons.unit = 'prompt',
                least(comparisons.n_marked_prompts, comparisons.n_reference_prompts),
                least(comparisons.n_marked, comparisons.n_reference)
            )
        ) as unseen
    from comparisons
    left join gaps on comparisons.comparison_key = gaps.comparison_key
),

answer_gaps as (
    select
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(unit as varchar) as unit,
        cast(n_marked_events / n_marked as double) as share_marked,
        cast(n_reference_events / n_reference as double) as share_reference,
        cast(n_marked_events / n_marked - n_reference_events / n_reference as double) as gap,
        {{ double_or_null("if(n_events = 0, 0, adjusted_gap)") }} as adjusted_gap,
        {{ double_or_null("if(n_events = 0, -unseen, adjusted_low)") }} as interval_low,
        {{ double_or_null("if(n_events = 0, unseen, adjusted_high)") }} as interval_high,
        {{ double_or_null("adjusted_standard_error") }} as standard_error,
        {{ double_or_null("null_mean") }} as null_mean,
        {{ double_or_null("null_sd") }} as null_sd,
        {{ double_or_null("p_value") }} as p_value,
        {{ double_or_null("p_case") }} as p_case,
        {{ double_or_null("p_name") }} as p_name,
        cast(n_marked as double) as n_marked,
        cast(n_reference as double) as n_reference,
        cast(n_marked_events as double) as n_marked_events,
        cast(n_reference_events as double) as n_reference_events,
        cast(n_marked_prompts as bigint) as n_marked_prompts,
        cast(n_reference_prompts as bigint) as n_reference_prompts,
        cast(coalesce(n_names, 0) as bigint) as n_names,
        cast(coalesce(n_drawn, 0) as integer) as n_permutations,
        cast(gap_seed as bigint) as seed,
        cast(coalesce(is_stopped_early, false) as boolean) as is_stopped_early
    from measured
)

select * from answer_gaps
