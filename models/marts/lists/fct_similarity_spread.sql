with

comparisons as (
    select *
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
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.scheme as varchar) as scheme,
        cast(comparisons.neutral as varchar) as neutral,
        cast(comparisons.wording as varchar) as wording,
        cast(comparisons.domain as varchar) as domain,
        cast(comparisons.attribute as varchar) as attribute,
        cast(snsr.feature as varchar) as similarity_name,
        cast(group_similarity.most_similar_group as varchar) as most_similar_group,
        cast(group_similarity.least_similar_group as varchar) as least_similar_group,
        cast(comparisons.n_groups as integer) as n_groups,
        cast(snsr.n_subjects as bigint) as n_subjects,
        cast(group_similarity.highest_similarity as double) as highest_similarity,
        cast(group_similarity.lowest_similarity as double) as lowest_similarity,
        cast(snsr.value as double) as snsr,
        {{ double_or_null("snsr.null_mean") }} as snsr_null_mean,
        {{ double_or_null("snsr.null_sd") }} as snsr_null_sd,
        {{ double_or_null("snsr.chance") }} as snsr_chance,
        {{ double_or_null("snsr.debiased") }} as snsr_debiased,
        {{ double_or_null("snsr.standard_error") }} as snsr_standard_error,
        {{ double_or_null("snsr.interval_low") }} as snsr_interval_low,
        {{ double_or_null("snsr.interval_high") }} as snsr_interval_high,
        {{ double_or_null("snsr.p_value") }} as snsr_p_value,
        {{ double_or_null("snsr.noise_floor") }} as snsr_noise_floor,
        {{ double_or_null("snsr.noise_floor_high") }} as snsr_noise_floor_high,
        cast(snsv.value as double) as snsv,
        {{ double_or_null("snsv.null_mean") }} as snsv_null_mean,
        {{ double_or_null("snsv.null_sd") }} as snsv_null_sd,
        {{ double_or_null("snsv.chance") }} as snsv_chance,
        {{ double_or_null("snsv.debiased") }} as snsv_debiased,
        {{ double_or_null("snsv.standard_error") }} as snsv_standard_error,
        {{ double_or_null("snsv.interval_low") }} as snsv_interval_low,
        {{ double_or_null("snsv.interval_high") }} as snsv_interval_high,
        {{ double_or_null("snsv.p_value") }} as snsv_p_value,
        {{ double_or_null("snsv.noise_floor") }} as snsv_noise_floor,
        {{ double_or_null("snsv.noise_floor_high") }} as snsv_noise_floor_high,
        cast(snsr.n_permutations as integer) as n_permutations,
        cast(snsr.seed as bigint) as seed,
        case
            when not isnan(snsr.noise_floor_high) then cast(snsr.value > snsr.noise_floor_high as boolean)
        end as is_above_noise_floor,
        cast(comparisons.n_groups = 2 as boolean) as is_one_test,
        cast(comparisons.is_judged as boolean) as is_judged
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

select * from similarity_spread
