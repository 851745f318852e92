with

comparisons as (
    select *
    from {{ ref("int_lists_comparisons") }}
),

lists_runs as (
    select
        run_id,
        personality
    from {{ ref("int_lists_runs") }}
),

deviations as (
    select *
    from {{ ref("int_lists_spreads") }}
    where statistic = 'mean_absolute_deviation'
),

personality_fairness as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.neutral as varchar) as neutral,
        cast(comparisons.wording as varchar) as wording,
        cast(comparisons.domain as varchar) as domain,
        cast(comparisons.attribute as varchar) as attribute,
        cast(deviations.feature as varchar) as similarity_name,
        cast(comparisons.n_groups as integer) as n_groups,
        cast(deviations.n_subjects as bigint) as n_subjects,
        cast(1 - deviations.value as double) as pafs,
        {{ double_or_null("1 - deviations.null_mean") }} as pafs_null_mean,
        {{ double_or_null("1 - deviations.chance") }} as pafs_chance,
        {{ double_or_null("1 - deviations.debiased") }} as pafs_debiased,
        {{ double_or_null("1 - deviations.interval_high") }} as interval_low,
        {{ double_or_null("1 - deviations.interval_low") }} as interval_high,
        {{ double_or_null("deviations.p_value") }} as p_value,
        {{ double_or_null("1 - deviations.noise_floor") }} as pafs_noise_floor,
        cast(deviations.n_permutations as integer) as n_permutations,
        cast(deviations.seed as bigint) as seed,
        cast(coalesce(comparisons.attribute = lists_runs.personality, false) as boolean) as is_personality
    from deviations
    inner join comparisons on deviations.comparison_key = comparisons.comparison_key
    inner join lists_runs on comparisons.run_id = lists_runs.run_id
)

select * from personality_fairness
