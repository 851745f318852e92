{{ config(materialized="view") }}

with

lists_runs as (
    select
        run_id,
        similarity,
        personality
    from {{ ref("int_lists_runs") }}
),

comparisons as (
    select *
    from {{ ref("int_lists_comparisons") }}
    where
        kind = 'groups'
        and is_judged
),

group_values as (
    select *
    from {{ ref("int_lists_group_values") }}
),

values_of_features as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.scheme,
        comparisons.attribute,
        concat_ws(', ', nullif(comparisons.domain, ''), nullif(comparisons.wording, 'clean')) as subject,
        lists_runs.similarity,
        coalesce(comparisons.attribute = lists_runs.personality, false) as is_personality,
        md5(group_values.subject) as entity,
        group_values.group_name,
        unnest(['similarity', 'unanswered', 'shortfall', 'repeated', 'ndcg']) as feature,
        unnest([
            case lists_runs.similarity
                when 'jaccard' then group_values.jaccard
                when 'serp' then group_values.serp
                when 'prag' then group_values.prag
            end,
            group_values.unanswered, group_values.shortfall, group_values.repeated, group_values.ndcg
        ]) as feature_value
    from comparisons
    inner join lists_runs on comparisons.run_id = lists_runs.run_id
    inner join group_values on comparisons.values_key = group_values.values_key
),

imported_values as (
    {{ imported_rows("list_cell", {
        "run_id": "varchar", "mitigation": "varchar", "scheme": "varchar", "attribute": "varchar", "subject": "varchar",
        "similarity": "varchar", "is_personality": "boolean", "entity": "varchar", "group_name": "varchar",
        "feature": "varchar", "feature_value": "double",
    }) }}
),

comparable_cells as (
    select * from values_of_features
    where feature_value is not null
    union all by name
    select * from imported_values
)

select * from comparable_cells
