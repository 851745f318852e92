with

comparisons as (
    select * exclude (n_subjects, n_permutations, seed)
    from {{ ref("int_lists_comparisons") }}
),

spreads as (
    select *
    from {{ ref("int_lists_spreads") }}
    where feature in ('jaccard', 'serp', 'prag', 'serp_code', 'prag_code')
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
        similarity_name,
        first(group_name order by similarity desc, group_name asc) as most_similar_group,
        first(group_name order by similarity asc, group_name asc) as least_similar_group,
        max(similarity) as highest_similarity,
        min(similarity) as lowest_similarity
    from {{ ref("fct_group_similarity") }}
    group by run_id, variant, scheme, neutral, wording, domain, attribute, similarity_name
),

similarity_spread as (
    select
        comparisons.*,
        snsr.feature as similarity_name,
        group_similarity.most_similar_group,
        group_similarity.least_similar_group,
        snsr.n_subjects,
        group_similarity.highest_similarity,
        group_similarity.lowest_similarity,
        {% for spread in ["snsr", "snsv"] -%}
            {{ spread }}.value as {{ spread }},
            {% for number in [
                "null_mean", "null_sd", "chance", "debiased", "standard_error", "interval_low", "interval_high", "p_value",
                "noise_floor", "noise_floor_high"
            ] -%}
                {{ spread }}.{{ number }} as {{ spread }}_{{ number }},
            {% endfor -%}
        {% endfor -%}
        snsr.n_permutations,
        snsr.seed,
        case when not isnan(snsr.noise_floor_high) then snsr.value > snsr.noise_floor_high end as is_above_noise_floor,
        comparisons.n_groups = 2 as is_one_test
    from spreads as snsr
    inner join spreads as snsv
        on
            snsr.comparison_key = snsv.comparison_key
            and snsr.feature = snsv.feature
    inner join comparisons on snsr.comparison_key = comparisons.comparison_key
    left join group_similarity
        on
            comparisons.run_id = group_similarity.run_id
            and comparisons.variant = group_similarity.variant
            and comparisons.scheme = group_similarity.scheme
            and comparisons.neutral = group_similarity.neutral
            and comparisons.wording = group_similarity.wording
            and comparisons.domain = group_similarity.domain
            and comparisons.attribute = group_similarity.attribute
            and snsr.feature = group_similarity.similarity_name
    where
        snsr.statistic = 'range'
        and snsv.statistic = 'sd'
)

{{ contracted("similarity_spread") }}
