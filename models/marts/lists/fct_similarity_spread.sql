with

comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_lists_comparisons") }}
    where kind = 'groups'
),

spreads as (
    select *
    from {{ ref("int_lists_spreads") }}
    where feature in ('jaccard', 'serp', 'prag', 'serp_code', 'prag_code')
),

ends as (
    select *
    from {{ ref("int_lists_ends") }}
),

similarity_spread as (
    select
        comparisons.*,
        snsr.feature as similarity_name,
        ends.highest_group as most_similar_group,
        ends.lowest_group as least_similar_group,
        snsr.n_subjects,
        ends.highest as highest_similarity,
        ends.lowest as lowest_similarity,
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
        snsr.n_blocks,
        snsr.seed,
        case when not isnan(snsr.noise_floor_high) then snsr.value > snsr.noise_floor_high end as is_above_noise_floor,
        comparisons.n_groups = 2 as is_one_test
    from spreads as snsr
    inner join spreads as snsv
        on
            snsr.comparison_key = snsv.comparison_key
            and snsr.feature = snsv.feature
    inner join comparisons on snsr.comparison_key = comparisons.comparison_key
    left join ends
        on
            snsr.comparison_key = ends.comparison_key
            and snsr.feature = ends.feature
    where
        snsr.statistic = 'range'
        and snsv.statistic = 'sd'
)

{{ contracted("similarity_spread") }}
