{{ config(materialized="by_run") }}

with

comparisons as (
    select
        run_id,
        comparison_key,
        contrast_id,
        kind,
        label_groups,
        domains
    from {{ run_rows("int_prices_comparisons") }}
),

members as (
    select
        comparison_key,
        unit,
        unit_id
    from {{ run_rows("int_prices_members") }}
),

units as (
    select *
    from {{ run_rows("int_prices_compared_units") }}
),

levels_of_units as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        members.unit_id,
        -- A pair is "same" where the first word's label and the second word's block differ (1 and 0, or 0 and 1).
        cast(
            if(comparisons.kind = 'same', units.block_group <> comparisons.label_groups[2], false) as tinyint
        ) as block,
        cast(list_position(comparisons.domains, units.domain) - 1 as integer) as set_id,
        -- Numbers cover all questions of the comparison, so that a question has one number in every group.
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by units.domain, units.question
            ) - 1 as integer
        ) as question_id,
        cast(units.price_level as integer) as level,
        units.n
    from comparisons
    inner join units on comparisons.contrast_id = units.contrast_id
    inner join members
        on
            comparisons.comparison_key = members.comparison_key
            and units.unit = members.unit
)

select * from levels_of_units
