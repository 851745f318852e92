with

scores as (
    select *
    from {{ ref("int_markers_scores") }}
    where markers_hash is not null
),

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

probes as (
    select
        markers_hash,
        probe,
        target_group
    from {{ ref("stg_ledger__probes") }}
),

thresholds as (
    select
        run_id,
        ratio as threshold
    from {{ ref("int_markers_thresholds") }}
),

comparisons as (
    select *
    from {{ ref("int_markers_ratio_comparisons") }}
),

ratios as (
    select *
    from {{ ref("int_markers_ratios") }}
),

-- All texts, and those about each group.
scores_of_groups as (
    select
        *,
        '' as attribute,
        '(all)' as group_name
    from scores
    union all by name
    select
        scores.*,
        prompt_groups.attribute,
        prompt_groups.group_name
    from scores
    inner join prompt_groups
        on
            scores.run_id = prompt_groups.run_id
            and scores.prompt_id = prompt_groups.prompt_id
),

-- A category without probes has no rows of probes, and a single category is all there is.
levels as (
    select *
    from scores_of_groups
    where probe <> ''
    union all by name
    select * replace ('(all)' as probe)
    from scores_of_groups
    union all by name
    select
        * replace (
            '(all)' as category,
            '(all)' as probe
        )
    from scores_of_groups
    qualify min(category) over (partition by run_id) < max(category) over (partition by run_id)
),

counted as (
    select
        levels.run_id,
        levels.variant,
        levels.scheme,
        levels.is_judged,
        levels.markers_hash,
        levels.attribute,
        levels.group_name,
        levels.category,
        levels.probe,
        sum(levels.n_answers) as n_answers,
        count(*) as n_texts,
        count(*) filter (where levels.code = 'stereotype') as n_stereotype,
        count(*) filter (where levels.code = 'anti') as n_anti,
        count(*) filter (where levels.code = 'both') as n_both,
        count(*) filter (where levels.code = 'none') as n_none,
        count(*) filter (where levels.is_assessable) as n_assessable,
        count(*) filter (where levels.is_assessable and levels.ratio > thresholds.threshold) as n_past_threshold,
        sum(levels.n_answers) filter (where levels.is_assessable and levels.ratio > thresholds.threshold)
            as n_answers_past_threshold,
        -- Answers without a marker count as neutral in the source's means.
        sum(levels.n_answers * levels.ratio order by levels.prompt_id, levels.response_hash) / sum(levels.n_answers)
            as published_ratio
    from levels
    inner join thresholds on levels.run_id = thresholds.run_id
    group by
        levels.run_id, levels.variant, levels.scheme, levels.is_judged, levels.markers_hash, levels.attribute,
        levels.group_name, levels.category, levels.probe
),

measured as (
    select
        comparisons.run_id,
        comparisons.variant,
        comparisons.scheme,
        comparisons.category,
        comparisons.probe,
        ratios.n_units,
        ratios.ratio,
        ratios.standard_error,
        ratios.interval_low,
        ratios.interval_high,
        ratios.p_value,
        ratios.null_mean,
        ratios.null_sd,
        ratios.n_permutations,
        ratios.smallest_p,
        ratios.seed
    from ratios
    inner join comparisons on ratios.comparison_key = comparisons.comparison_key
),

stereotype_rates as (
    select
        cast(counted.run_id as varchar) as run_id,
        cast(counted.variant as varchar) as variant,
        cast(counted.scheme as varchar) as scheme,
        cast(counted.attribute as varchar) as attribute,
        cast(counted.group_name as varchar) as group_name,
        cast(counted.category as varchar) as category,
        cast(counted.probe as varchar) as probe,
        cast(probes.target_group as varchar) as target_group,
        cast(counted.n_answers as double) as n_answers,
        cast(counted.n_texts as bigint) as n_texts,
        cast(counted.n_stereotype as bigint) as n_stereotype,
        cast(counted.n_anti as bigint) as n_anti,
        cast(counted.n_both as bigint) as n_both,
        cast(counted.n_none as bigint) as n_none,
        cast(counted.n_assessable as bigint) as n_assessable,
        cast(counted.n_past_threshold as bigint) as n_past_threshold,
        cast(
            coalesce(counted.n_answers_past_threshold, 0) / counted.n_answers as double
        ) as share_past_threshold,
        cast(counted.published_ratio as double) as published_ratio,
        {{ double_or_null("measured.ratio") }} as stereotype_ratio,
        {{ double_or_null("measured.standard_error") }} as standard_error,
        {{ double_or_null("measured.interval_low") }} as interval_low,
        {{ double_or_null("measured.interval_high") }} as interval_high,
        {{ double_or_null("measured.null_mean") }} as null_mean,
        {{ double_or_null("measured.null_sd") }} as null_sd,
        {{ double_or_null("measured.p_value") }} as p_value,
        {{ double_or_null("measured.smallest_p") }} as smallest_p,
        cast(measured.n_units as bigint) as n_units,
        cast(measured.n_permutations as integer) as n_permutations,
        cast(measured.seed as bigint) as seed,
        cast(counted.is_judged as boolean) as is_judged
    from counted
    left join measured
        on
            counted.run_id = measured.run_id
            and counted.variant = measured.variant
            and counted.scheme = measured.scheme
            and counted.category = measured.category
            and counted.probe = measured.probe
            and counted.attribute = ''
    left join probes
        on
            counted.markers_hash = probes.markers_hash
            and counted.probe = probes.probe
)

select * from stereotype_rates
