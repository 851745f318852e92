{{ config(materialized="by_run") }}

{%- set features = [
    "jaccard", "serp", "prag", "serp_code", "prag_code", "unanswered", "shortfall", "repeated", "ndcg",
] %}

with

comparisons as (
    select
        run_id,
        comparison_key,
        values_key
    from {{ run_rows("int_lists_comparisons") }}
    where kind = 'groups'
),

group_values as (
    select *
    from {{ run_rows("int_lists_group_values") }}
),

group_means as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        {% for feature in features -%}
            avg(group_values.{{ feature }} order by group_values.subject) as {{ feature }},
        {% endfor -%}
        group_values.group_name
    from comparisons
    inner join group_values on comparisons.values_key = group_values.values_key
    group by comparisons.run_id, comparisons.comparison_key, group_values.group_name
),

-- Groups without any value are left out.
long_means as (
    select
        run_id,
        comparison_key,
        group_name,
        feature,
        mean
    from group_means
    unpivot (mean for feature in ({{ features | join(", ") }}))
),

ends as (
    select
        run_id,
        comparison_key,
        feature,
        first(group_name order by mean desc, group_name asc) as highest_group,
        first(group_name order by mean asc, group_name asc) as lowest_group,
        max(mean) as highest,
        min(mean) as lowest
    from long_means
    group by run_id, comparison_key, feature
)

select * from ends
