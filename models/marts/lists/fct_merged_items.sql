with

lists_runs as (
    select
        run_id,
        lists_key
    from {{ ref("int_lists_runs") }}
),

item_merges as (
    select *
    from {{ ref("int_lists_merges") }}
),

merged_items as (
    select
        lists_runs.run_id,
        item_merges.*
    from item_merges
    inner join lists_runs on item_merges.lists_key = lists_runs.lists_key
)

{{ contracted("merged_items") }}
