{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        k,
        fuzzy_distance,
        fuzzy_overlap
    from {{ run_rows("int_lists_runs") }}
    where fuzzy_distance is not null
),

answers as (
    select
        run_id,
        domain,
        subject,
        subject_key,
        list_key
    from {{ run_rows("int_lists_answers") }}
    where scheme = 'items'
),

items as (
    select
        list_key,
        place,
        item
    from {{ run_rows("int_lists_items") }}
),

spellings as (
    select
        lists_runs.run_id,
        lists_runs.fuzzy_distance,
        lists_runs.fuzzy_overlap,
        answers.domain,
        answers.subject,
        answers.subject_key,
        items.item,
        count(*) as n_places,
        regexp_extract_all(items.item, '\d+') as numbers,
        list_distinct(string_split(items.item, ' ')) as tokens
    from lists_runs
    inner join answers on lists_runs.run_id = answers.run_id
    inner join items
        on
            answers.list_key = items.list_key
            and lists_runs.k >= items.place
    group by
        lists_runs.run_id, lists_runs.fuzzy_distance, lists_runs.fuzzy_overlap,
        answers.domain, answers.subject, answers.subject_key, items.item
),

-- Titles that differ in a number are different titles ("Part 2", "Part 3"), and an edit or two make another title of a
-- short one ("Up", "It"), so an edit needs five characters.
likenesses as (
    select
        spellings.*,
        others.item as other_item,
        others.n_places as n_other_places,
        levenshtein(spellings.item, others.item) as distance,
        len(list_intersect(spellings.tokens, others.tokens))
        / len(list_distinct(list_concat(spellings.tokens, others.tokens))) as token_overlap
    from spellings
    inner join spellings as others
        on
            spellings.subject_key = others.subject_key
            and spellings.numbers = others.numbers
            -- The more frequent spelling stays; of equals the alphabetically first.
            and (
                spellings.n_places < others.n_places
                or (spellings.n_places = others.n_places and spellings.item > others.item)
            )
),

near_likenesses as (
    select *
    from likenesses
    where
        distance <= least(fuzzy_distance, length(other_item) / 5)
        or token_overlap > fuzzy_overlap
),

-- Merges do not chain: a spelling joins one that itself stays.
item_merges as (
    select near_likenesses.*
    from near_likenesses
    anti join near_likenesses as further
        on
            near_likenesses.subject_key = further.subject_key
            and near_likenesses.other_item = further.item
    qualify
        row_number() over (
            partition by near_likenesses.subject_key, near_likenesses.item
            order by
                near_likenesses.n_other_places desc, near_likenesses.distance asc, near_likenesses.other_item asc
        ) = 1
)

select
    run_id,
    domain,
    subject,
    subject_key,
    item,
    other_item as merged_into,
    n_places,
    n_other_places as n_places_of_other,
    distance,
    token_overlap
from item_merges
