with

comparisons as (
    select * exclude (n_permutations, seed, n_groups) rename (similarity as similarity_name)
    from {{ ref("int_lists_comparisons") }}
    where kind = 'wording'
),

tests as (
    select *
    from {{ ref("int_lists_robustness_tests") }}
),

group_similarity as (
    select *
    from {{ ref("fct_group_similarity") }}
    where is_judged_neutral
),

-- The groups that were asked about in both wordings, each against the neutral list of its own wording.
both_wordings as (
    select
        list_set_id,
        similarity_name,
        similarity,
        max(similarity) filter (where wording = 'clean') over (
            partition by run_id, mitigation, scheme, domain, attribute, group_name, similarity_name
        ) as clean_similarity
    from group_similarity
    qualify clean_similarity is not null
),

spreads as (
    select
        list_set_id,
        similarity_name,
        count(*) as n_groups,
        max(similarity) - min(similarity) as snsr,
        max(clean_similarity) - min(clean_similarity) as snsr_clean
    from both_wordings
    group by list_set_id, similarity_name
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
    inner join tests on comparisons.comparison_key = tests.comparison_key
    left join spreads
        on
            cast(comparisons.list_set_id as varchar) = spreads.list_set_id
            and comparisons.similarity_name = spreads.similarity_name
)

{{ contracted("robustness") }}
