with

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
),

long_values as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        group_name,
        subject,
        is_judged_neutral,
        unnest(['jaccard', 'serp', 'prag', 'serp_code', 'prag_code']) as similarity_name,
        unnest([jaccard, serp, prag, serp_code, prag_code]) as similarity
    from group_values
),

described as (
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
        bool_or(is_judged_neutral) as is_judged_neutral,
        count(similarity) as n_subjects,
        count(*) - count(similarity) as n_absent,
        -- In an order of their own: sums of floating-point numbers depend on it, in their last digit.
        avg(similarity order by subject, similarity) as similarity,
        -- What a refused list would make of it if it counted as one that shares nothing.
        sum(similarity order by subject, similarity) / count(*) as similarity_absent_as_zero,
        stddev_samp(similarity order by subject, similarity) as similarity_sd
    from long_values
    group by run_id, variant, scheme, neutral, wording, domain, attribute, group_name, similarity_name
    having count(similarity) > 0
),

group_similarity as (
    select
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(scheme as varchar) as scheme,
        cast(neutral as varchar) as neutral,
        cast(wording as varchar) as wording,
        cast(domain as varchar) as domain,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(similarity_name as varchar) as similarity_name,
        cast(n_subjects as bigint) as n_subjects,
        cast(n_absent as bigint) as n_absent,
        cast(similarity as double) as similarity,
        cast(similarity_sd as double) as similarity_sd,
        cast(similarity - 1.959964 * similarity_sd / sqrt(n_subjects) as double) as interval_low,
        cast(similarity + 1.959964 * similarity_sd / sqrt(n_subjects) as double) as interval_high,
        cast(similarity_absent_as_zero as double) as similarity_absent_as_zero,
        cast(is_judged_neutral as boolean) as is_judged_neutral
    from described
)

select * from group_similarity
