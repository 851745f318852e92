with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        kind,
        label_groups,
        domains,
        categories
    from {{ ref("int_prices_association_comparisons") }}
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
    from {{ ref("int_prices_category_units") }}
),

-- A null category counts the items of the unit.
category_counts as (
    select
        comparisons.comparison_key,
        members.unit_id,
        cast(
            if(comparisons.kind = 'same', units.block_group <> comparisons.label_groups[2], false) as tinyint
        ) as block,
        cast(list_position(comparisons.categories, units.category) - 1 as integer) as category_id,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by units.domain, units.question
            ) - 1 as integer
        ) as question_id,
        units.n
    from comparisons
    inner join members on comparisons.comparison_key = members.comparison_key
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.attribute = units.attribute
            and members.unit = units.unit
            and units.group_name in (comparisons.group_name, comparisons.reference_group)
            and list_contains(comparisons.domains, units.domain)
)

select * from category_counts
