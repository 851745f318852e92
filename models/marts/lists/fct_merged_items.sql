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
        cast(lists_runs.run_id as varchar) as run_id,
        cast(item_merges.domain as varchar) as domain,
        cast(item_merges.subject as varchar) as subject,
        cast(item_merges.item as varchar) as item,
        cast(item_merges.merged_into as varchar) as merged_into,
        cast(item_merges.n_places as bigint) as n_places,
        cast(item_merges.n_places_of_other as bigint) as n_places_of_other,
        cast(item_merges.distance as integer) as distance,
        cast(item_merges.token_overlap as double) as token_overlap
    from item_merges
    inner join lists_runs on item_merges.lists_key = lists_runs.lists_key
)

select * from merged_items
