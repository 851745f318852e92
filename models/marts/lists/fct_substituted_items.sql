with

comparisons as (
    select
        comparison_key,
        run_id,
        mitigation,
        domain,
        attribute,
        group_name
    from {{ ref("int_lists_comparisons") }}
    where kind = 'items'
),

item_tests as (
    select *
    from {{ ref("int_lists_item_tests") }}
),

substituted_items as (
    select
        comparisons.*,
        item_tests.*
    from item_tests
    inner join comparisons on item_tests.comparison_key = comparisons.comparison_key
)

{{ contracted("substituted_items") }}
