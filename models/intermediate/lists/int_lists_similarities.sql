{{ config(materialized="by_run") }}

with

answer_pairs as (
    select *
    from {{ run_rows("int_lists_pairs") }}
),

-- Pairs of lists, each of which may answer several questions.
list_pairs as (
    select distinct
        k,
        list_key,
        other_list_key
    from answer_pairs
),

places as (
    select *
    from {{ run_rows("int_lists_places") }}
),

-- Lists and items are joined by numbers, which is quicker than by texts.
lists as (
    select
        list_key,
        row_number() over (order by list_key) as list_number,
        count(*) as n_written,
        count(*) filter (where not is_repeat) as n_items,
        list(item order by place) as items
    from places
    group by list_key
),

items as (
    select
        item,
        row_number() over (order by item) as item_number
    from places
    group by item
),

numbered_places as (
    select
        lists.list_number,
        items.item_number,
        places.place,
        places.item_rank,
        places.is_repeat
    from places
    inner join lists
        on places.list_key = lists.list_key
    inner join items on places.item = items.item
),

-- The place of each item in the other list; the reference code counts repeats and takes the last place.
other_places as (
    select
        list_number,
        item_number,
        count(*) as n_times,
        max(place) as last_place,
        min(item_rank) as item_rank
    from numbered_places
    group by list_number, item_number
),

numbered_pairs as (
    select
        list_pairs.list_key,
        list_pairs.other_list_key,
        list_pairs.k,
        lists.list_number,
        other_lists.list_number as other_list_number,
        lists.n_items,
        lists.n_written,
        other_lists.n_items as n_other_items,
        other_lists.n_written as n_other_written,
        lists.items = other_lists.items as is_identical,
        lists.n_items < lists.n_written or other_lists.n_items < other_lists.n_written as has_repeats
    from list_pairs
    inner join lists
        on list_pairs.list_key = lists.list_key
    inner join lists as other_lists
        on list_pairs.other_list_key = other_lists.list_key
),

shared_items as (
    select
        pairs.list_number,
        pairs.other_list_number,
        count(*) filter (where not places.is_repeat) as n_shared,
        count(*) as n_shared_written,
        sum(places.item_rank) filter (where not places.is_repeat) as sum_of_ranks,
        sum(places.place) as sum_of_places,
        sum(other_places.n_times) as n_matches,
        sum(other_places.n_times * places.place) as sum_of_matched_places,
        list(other_places.item_rank order by places.item_rank) filter (where not places.is_repeat) as other_ranks,
        list(other_places.last_place order by places.place) filter (where pairs.has_repeats) as other_last_places
    from numbered_pairs as pairs
    inner join numbered_places as places on pairs.list_number = places.list_number
    inner join other_places
        on
            pairs.other_list_number = other_places.list_number
            and places.item_number = other_places.item_number
    group by pairs.list_number, pairs.other_list_number
),

ordered as (
    select
        *,
        coalesce({{ n_ascending_pairs("other_ranks") }}, 0) as n_concordant  -- noqa
    from shared_items
),

counted as (
    select
        pairs.list_key,
        pairs.other_list_key,
        pairs.k,
        pairs.n_items,
        pairs.n_written,
        pairs.n_other_items,
        pairs.n_other_written,
        pairs.is_identical,
        coalesce(shared_items.n_shared, 0) as n_shared,
        coalesce(shared_items.n_shared_written, 0) as n_shared_written,
        coalesce(shared_items.sum_of_ranks, 0) as sum_of_ranks,
        coalesce(shared_items.sum_of_places, 0) as sum_of_places,
        coalesce(shared_items.n_matches, 0) as n_matches,
        coalesce(shared_items.sum_of_matched_places, 0) as sum_of_matched_places,
        coalesce(shared_items.n_concordant, 0) as n_concordant,
        -- Without repeats, places and ranks have the same order.
        case
            when pairs.has_repeats
                then coalesce({{ n_ascending_pairs("shared_items.other_last_places") }}, 0)  -- noqa
            else coalesce(shared_items.n_concordant, 0)
        end as n_concordant_written
    from numbered_pairs as pairs
    left join ordered as shared_items
        on
            pairs.list_number = shared_items.list_number
            and pairs.other_list_number = shared_items.other_list_number
),

similarities as (
    select
        list_key,
        other_list_key,
        is_identical,
        cast(n_items as integer) as n_items,
        cast(n_other_items as integer) as n_other_items,
        cast(n_shared as integer) as n_shared,
        n_shared / (n_items + n_other_items - n_shared) as jaccard,
        -- Equation (8): the weight K - rank + 1 of every shared item, over the weight of K shared items.
        (n_shared * (k + 1) - sum_of_ranks) / (k * (k + 1) / 2) as serp,
        -- Equation (9): list_pairs whose first item is shared and, where the second is too, in the same order. Of the n
        -- - rank items after a shared one, the unshared count, and the shared count where both lists agree.
        (n_shared * n_items - sum_of_ranks - n_shared * (n_shared - 1) / 2 + n_concordant) / (k * (k + 1)) as prag,
        -- The reference code: n + 1 - (place - 1) a match, over 2 n (n + 1), so that identical lists do not reach 1.
        (n_matches * (n_written + 2) - sum_of_matched_places)
        / (2 * n_other_written * (n_other_written + 1)) as serp_code,
        -- The reference code: the same count as equation (9), over the number of list_pairs.
        case
            when n_written = 1 then cast(is_identical as integer)
            else
                (
                    n_shared_written * n_written - sum_of_places
                    - n_shared_written * (n_shared_written - 1) / 2 + n_concordant_written
                ) / (n_written * (n_written - 1) / 2)
        end as prag_code
    from counted
),

compared_pairs as (
    select
        answer_pairs.*,
        similarities.is_identical,
        similarities.n_items,
        similarities.n_other_items,
        similarities.n_shared,
        similarities.jaccard,
        similarities.serp,
        similarities.prag,
        similarities.serp_code,
        similarities.prag_code
    from answer_pairs
    inner join similarities
        on
            answer_pairs.list_key = similarities.list_key
            and answer_pairs.other_list_key = similarities.other_list_key
)

select * from compared_pairs
