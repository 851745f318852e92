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
        comparisons.robustness_key,
        cast(
            dense_rank() over (
                partition by comparisons.robustness_key order by robustness_values.subject
            ) - 1 as integer
        ) as subject_id,
        robustness_values.similarity,
        robustness_values.rerun_similarity
    from comparisons
    inner join robustness_values
        on
            comparisons.run_id = robustness_values.run_id
            and comparisons.variant = robustness_values.variant
            and comparisons.scheme = robustness_values.scheme
            and comparisons.wording = robustness_values.wording
            and comparisons.domain = robustness_values.domain
            and comparisons.attribute = robustness_values.attribute
)

select * from cells
