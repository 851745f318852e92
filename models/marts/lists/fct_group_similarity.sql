{{ config(materialized="by_run") }}

with

group_values as (
    select *
    from {{ run_rows("int_lists_group_values") }}
),

long_values as (
    select
        * exclude (jaccard, serp, prag, serp_code, prag_code),
        unnest(['jaccard', 'serp', 'prag', 'serp_code', 'prag_code']) as similarity_name,
        unnest([jaccard, serp, prag, serp_code, prag_code]) as similarity
    from group_values
),

described as (
    select
        list_set_id,
        run_id,
        mitigation,
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
        -- The mean if a refused list counted as one that shares nothing.
        sum(similarity order by subject, similarity) / count(*) as similarity_absent_as_zero,
        stddev_samp(similarity order by subject, similarity) as similarity_sd
    from long_values
    group by all
    having count(similarity) > 0
),

group_similarity as (
    select
        *,
        {{ contrast_id("described", group_name="'(all)'", reference_group="'(neutral)'") }} as contrast_id,
        similarity - 1.959964 * similarity_sd / sqrt(n_subjects) as interval_low,
        similarity + 1.959964 * similarity_sd / sqrt(n_subjects) as interval_high
    from described
)

{{ contracted("group_similarity") }}
