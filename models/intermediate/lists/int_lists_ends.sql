{%- set runs = new_runs(ref("int_lists_comparisons"), key="comparison_key") -%}
{{ config(materialized="kept", kept_by="comparison_key", kept_in="int_lists_comparisons") }}

{%- set features = [
    "jaccard", "serp", "prag", "serp_code", "prag_code", "unanswered", "shortfall", "repeated", "ndcg",
] %}

with

comparisons as (
    select
        comparison_key,
        list_set_id,
        neutral
    from {{ ref("int_lists_comparisons") }}
    where {{ is_lacking("comparison_key", runs) }}
),

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
    where {{ is_of_runs("run_id", runs) }}
),

group_means as (
    select
        comparisons.comparison_key,
        {% for feature in features -%}
            avg(group_values.{{ feature }} order by group_values.subject) as {{ feature }},
        {% endfor -%}
        group_values.group_name
    from comparisons
    inner join group_values
        on
            comparisons.list_set_id = group_values.list_set_id
            and comparisons.neutral = group_values.neutral
    group by comparisons.comparison_key, group_values.group_name
),

-- Groups without any value are left out.
long_means as (
    select
        comparison_key,
        group_name,
        feature,
        mean
    from group_means
    unpivot (mean for feature in ({{ features | join(", ") }}))
),

ends as (
    select
        comparison_key,
        feature,
        first(group_name order by mean desc, group_name asc) as highest_group,
        first(group_name order by mean asc, group_name asc) as lowest_group,
        max(mean) as highest,
        min(mean) as lowest
    from long_means
    group by comparison_key, feature
)

select * from ends
