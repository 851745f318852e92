{{ config(materialized="by_run") }}

with

comparisons as (
    select
        run_id,
        comparison_key,
        list_set_id,
        neutral,
        is_judged
    from {{ run_rows("int_lists_comparisons") }}
),

group_values as (
    select *
    from {{ run_rows("int_lists_group_values") }}
),

cells as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by group_values.subject
            ) - 1 as integer
        ) as subject_id,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by group_values.group_name
            ) - 1 as integer
        ) as label,
        group_values.jaccard,
        group_values.serp,
        group_values.prag,
        group_values.serp_code,
        group_values.prag_code,
        -- How questions were answered does not depend on what the answers are compared with: it is judged once.
        case when comparisons.is_judged then group_values.unanswered end as unanswered,
        case when comparisons.is_judged then group_values.shortfall end as shortfall,
        case when comparisons.is_judged then group_values.repeated end as repeated,
        case when comparisons.is_judged then group_values.ndcg end as ndcg
    from comparisons
    inner join group_values
        on
            comparisons.list_set_id = group_values.list_set_id
            and comparisons.neutral = group_values.neutral
)

select * from cells
