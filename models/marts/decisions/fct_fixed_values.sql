with

units as (
    select *
    from {{ ref("int_decisions_fixed_units") }}
),

tests as (
    select *
    from {{ ref("int_decisions_fixed_values") }}
),

answers as (
    select distinct
        comparison_key,
        run_id,
        mitigation,
        domain,
        kind,
        against,
        n_answers,
        n_all_unread as n_unread
    from units
),

fixed_values as (
    select
        answers.*,
        tests.mean as mean_outcome,
        tests.gap,
        tests.standard_error,
        tests.interval_low,
        tests.interval_high,
        tests.null_mean,
        tests.null_sd,
        tests.p_value,
        tests.p_signs,
        tests.p_limits,
        tests.n_clusters,
        tests.width_power,
        tests.n_permutations,
        tests.seed
    from answers
    inner join tests on answers.comparison_key = tests.comparison_key
)

{{ contracted("fixed_values") }}
