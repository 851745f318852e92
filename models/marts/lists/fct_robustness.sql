with

comparisons as (
    select * exclude (n_permutations, seed) rename (similarity as similarity_name)
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
        comparisons.*,
        tests.*,
        tests.noise_floor as rerun_similarity,
        spreads.n_groups,
        spreads.snsr_clean,
        spreads.snsr,
        spreads.snsr - spreads.snsr_clean as snsr_change
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
            and comparisons.similarity_name = spreads.similarity_name
)

{{ contracted("robustness") }}
