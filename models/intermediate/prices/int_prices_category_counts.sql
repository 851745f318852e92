{{ config(materialized="by_run") }}

with

comparisons as (
    select
        run_id,
        comparison_key,
        contrast_id,
        label_groups,
        categories
    from {{ run_rows("int_prices_association_comparisons") }}
),

members as (
    select
        comparison_key,
        unit,
        unit_id
    from {{ run_rows("int_prices_association_members") }}
),

units as (
    select *
    from {{ run_rows("int_prices_compared_categories") }}
),

-- A null category counts the items of the unit.
category_counts as (
    select
        comparisons.run_id,
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
