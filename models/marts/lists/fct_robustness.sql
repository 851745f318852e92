with

comparisons as (
    select *
    from {{ ref("int_lists_robustness_comparisons") }}
),

tests as (
    select *
    from {{ ref("int_lists_robustness_tests") }}
),

group_similarity as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        group_name,
        similarity_name,
        similarity
    from {{ ref("fct_group_similarity") }}
    where is_judged_neutral
),

-- SNSR over the groups that were asked about in both wordings, each against the neutral list of its own wording.
spreads as (
    select
        worded.run_id,
        worded.variant,
        worded.scheme,
        worded.wording,
        worded.domain,
        worded.attribute,
        worded.similarity_name,
        count(*) as n_groups,
        max(worded.similarity) - min(worded.similarity) as snsr,
        max(clean.similarity) - min(clean.similarity) as snsr_clean
    from group_similarity as worded
    inner join group_similarity as clean
        on
            worded.run_id = clean.run_id
            and worded.variant = clean.variant
            and worded.scheme = clean.scheme
            and worded.domain = clean.domain
            and worded.attribute = clean.attribute
            and worded.group_name = clean.group_name
            and worded.similarity_name = clean.similarity_name
    where
        worded.wording <> 'clean'
        and clean.wording = 'clean'
    group by
        worded.run_id, worded.variant, worded.scheme, worded.wording, worded.domain, worded.attribute,
        worded.similarity_name
),

robustness as (
    select
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.wording as varchar) as wording,
        cast(comparisons.domain as varchar) as domain,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.similarity as varchar) as similarity_name,
        cast(tests.n_subjects as bigint) as n_subjects,
        cast(tests.n_pairs as bigint) as n_pairs,
        cast(spreads.n_groups as integer) as n_groups,
        cast(tests.similarity as double) as similarity,
        {{ double_or_null("tests.standard_error") }} as standard_error,
        {{ double_or_null("tests.interval_low") }} as interval_low,
        {{ double_or_null("tests.interval_high") }} as interval_high,
        {{ double_or_null("tests.noise_floor") }} as rerun_similarity,
        {{ double_or_null("tests.p_value") }} as p_value,
        cast(spreads.snsr_clean as double) as snsr_clean,
        cast(spreads.snsr as double) as snsr,
        cast(spreads.snsr - spreads.snsr_clean as double) as snsr_change,
        cast(tests.n_permutations as integer) as n_permutations,
        cast(tests.seed as bigint) as seed
    from comparisons
    inner join tests on comparisons.robustness_key = tests.robustness_key
    left join spreads
        on
            comparisons.run_id = spreads.run_id
            and comparisons.variant = spreads.variant
            and comparisons.scheme = spreads.scheme
            and comparisons.wording = spreads.wording
            and comparisons.domain = spreads.domain
            and comparisons.attribute = spreads.attribute
            and comparisons.similarity = spreads.similarity_name
)

select * from robustness
