{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        k
    from {{ run_rows("int_lists_runs") }}
),

answers as (
    select
        run_id,
        list_key,
        scheme,
        any_value(subject_key) as subject_key
    from {{ run_rows("int_lists_answers") }}
    group by run_id, list_key, scheme
),

items as (
    select
        list_key,
        place,
        item,
        written_item
    from {{ run_rows("int_lists_items") }}
),

item_merges as (
    select
        subject_key,
        item,
        merged_into
    from {{ ref("int_lists_merges") }}
),

merged_places as (
    select
        answers.run_id,
        answers.list_key,
        items.place,
        items.written_item,
        coalesce(item_merges.merged_into, items.item) as item
    from answers
    inner join lists_runs on answers.run_id = lists_runs.run_id
    inner join items
        on
            answers.list_key = items.list_key
            and lists_runs.k >= items.place
    left join item_merges
        on
            answers.subject_key = item_merges.subject_key
            and items.item = item_merges.item
            and answers.scheme = 'items'
),

marked_places as (
    select
        *,
        row_number() over (partition by list_key, item order by place) > 1 as is_repeat
    from merged_places
),

places as (
    select
        *,
        -- A repeated item leaves no gap: those after it move up.
        cast(
            count(*) filter (where not is_repeat) over (
                partition by list_key order by place
            ) as integer
        ) as item_rank
    from marked_places
)

select * from places
