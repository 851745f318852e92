with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_answers_gap_comparisons") }}
),

gaps as (
    select *
    from {{ ref("int_answers_gaps") }}
),

measured as (
    select
        comparisons.* replace (if(gaps.unit = 'name', 'name', comparisons.unit) as unit),
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
        gaps.n_permutations,
        gaps.n_blocks,
        gaps.seed,
        gaps.is_stopped_early,
        -- Without any such answer: the share that so many prompts, or answers, may have missed (rule of three).
        1 - pow(
            comparisons.alpha / 2,
            1 / if(
                comparisons.unit = 'prompt',
                least(comparisons.n_marked_wholes, comparisons.n_reference_wholes),
                least(comparisons.n_marked, comparisons.n_reference)
            )
        ) as unseen
    from comparisons
    left join gaps on comparisons.comparison_key = gaps.comparison_key
),

answer_gaps as (
    select
        * replace (
            if(n_events = 0, 0, adjusted_gap) as adjusted_gap,
            coalesce(n_names, 0) as n_names,
            coalesce(n_permutations, 0) as n_permutations,
            coalesce(is_stopped_early, false) as is_stopped_early
        ),
        n_marked_events / n_marked as share_marked,
        n_reference_events / n_reference as share_reference,
        n_marked_events / n_marked - n_reference_events / n_reference as gap,
        if(n_events = 0, -unseen, adjusted_low) as interval_low,
        if(n_events = 0, unseen, adjusted_high) as interval_high,
        adjusted_standard_error as standard_error
    from measured
)

{{ contracted("answer_gaps") }}
