with

pairs as (
    select *
    from {{ ref("int_lists_pairs") }}
),

similarities as (
    select *
    from {{ ref("int_lists_similarities") }}
),

compared_pairs as (
    select
        pairs.*,
        similarities.* exclude (lists_key, list_key, other_list_key)
    from pairs
    inner join similarities
        on
            pairs.lists_key = similarities.lists_key
            and pairs.list_key = similarities.list_key
            and pairs.other_list_key = similarities.other_list_key
)

select * from compared_pairs
