with

comparisons as (
    select *
    from {{ ref("int_lists_robustness_comparisons") }}
),

robustness_values as (
    select *
    from {{ ref("int_lists_robustness_values") }}
),

cells as (
    select
        comparisons.comparison_key,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by robustness_values.subject
            ) - 1 as integer
        ) as subject_id,
        robustness_values.similarity,
        robustness_values.rerun_similarity
    from comparisons
    inner join robustness_values on comparisons.list_set_id = robustness_values.list_set_id
)

select * from cells
