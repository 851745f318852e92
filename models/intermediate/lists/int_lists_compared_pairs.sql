{{ config(materialized="by_run") }}

with

pairs as (
    select *
    from {{ run_rows("int_lists_pairs") }}
),

similarities as (
    select *
    from {{ ref("int_lists_similarities") }}
),

compared_pairs as (
    select
        pairs.*,
        similarities.is_identical,
        similarities.n_items,
        similarities.n_other_items,
        similarities.n_shared,
        similarities.jaccard,
        similarities.serp,
        similarities.prag,
        similarities.serp_code,
        similarities.prag_code
    from pairs
    inner join similarities
        on
            pairs.lists_key = similarities.lists_key
            and pairs.list_key = similarities.list_key
            and pairs.other_list_key = similarities.other_list_key
)

select * from compared_pairs
