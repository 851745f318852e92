with

merged_items as (
    select *
    from {{ ref("int_lists_merges") }}
)

{{ contracted("merged_items") }}
