{%- set runs = new_runs(ref("int_lists_comparisons"), key="comparison_key") -%}
{{ config(materialized="kept", kept_by="comparison_key", kept_in="int_lists_comparisons") }}

with

comparisons as (
    select
        comparison_key,
        list_set_id,
        neutral,
        is_judged
    from {{ ref("int_lists_comparisons") }}
    where {{ is_lacking("comparison_key", runs) }}
),

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
    where {{ is_of_runs("run_id", runs) }}
),

cells as (
    select
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
