{%- set runs = new_runs(ref("int_prices_association_comparisons"), key="comparison_key") -%}
{{ config(materialized="kept", kept_by="comparison_key", kept_in="int_prices_association_comparisons") }}

with

comparisons as (
    select
        comparison_key,
        contrast_id,
        label_groups,
        categories
    from {{ ref("int_prices_association_comparisons") }}
    where {{ is_lacking("comparison_key", runs) }}
),

members as (
    select
        comparison_key,
        unit,
        unit_id
    from {{ ref("int_prices_association_members") }}
),

units as (
    select *
    from {{ ref("int_prices_compared_categories") }}
    where {{ is_of_runs("run_id", runs) }}
),

-- A null category counts the items of the unit.
category_counts as (
    select
        comparisons.comparison_key,
        members.unit_id,
        cast(if(units.kind = 'same', units.block_group <> comparisons.label_groups[2], false) as tinyint) as block,
        cast(list_position(comparisons.categories, units.category) - 1 as integer) as category_id,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by units.domain, units.question
            ) - 1 as integer
        ) as question_id,
        units.n
    from comparisons
    inner join units on comparisons.contrast_id = units.contrast_id
    inner join members
        on
            comparisons.comparison_key = members.comparison_key
            and units.unit = members.unit
)

select * from category_counts
