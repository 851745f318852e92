with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_lists_comparisons") }}
    where kind = 'groups'
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
        comparisons.*,
        deviations.feature as similarity_name,
        deviations.n_subjects,
        1 - deviations.value as pafs,
        1 - deviations.null_mean as pafs_null_mean,
        1 - deviations.chance as pafs_chance,
        1 - deviations.debiased as pafs_debiased,
        1 - deviations.interval_high as interval_low,
        1 - deviations.interval_low as interval_high,
        deviations.p_value,
        1 - deviations.noise_floor as pafs_noise_floor,
        deviations.n_permutations,
        deviations.n_blocks,
        deviations.seed,
        coalesce(comparisons.attribute = lists_runs.personality, false) as is_personality
    from deviations
    inner join comparisons on deviations.comparison_key = comparisons.comparison_key
    inner join lists_runs on comparisons.run_id = lists_runs.run_id
)

{{ contracted("personality_fairness") }}
