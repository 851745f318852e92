{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        k,
        relevance_hash
    from {{ run_rows("int_lists_runs") }}
    where relevance_hash is not null
),

relevance as (
    select
        relevance_hash,
        domain,
        subject,
        {{ normalised_item("item") }} as item,
        max(grade) as grade
    from {{ ref("stg_ledger__relevance") }}
    group by all
),

subjects as (
    select distinct
        run_id,
        domain,
        subject,
        subject_key
    from {{ run_rows("int_lists_prompts") }}
),

item_merges as (
    select *
    from {{ ref("int_lists_merges") }}
),

-- Relevant items follow the merges of the run whose lists they judge.
relevant_items as (
    select
        subjects.subject_key,
        lists_runs.k,
        coalesce(item_merges.merged_into, relevance.item) as item,
        max(relevance.grade) as grade
    from lists_runs
    inner join relevance on lists_runs.relevance_hash = relevance.relevance_hash
    -- A table without domains speaks of a subject in each of them.
    inner join subjects
        on
            lists_runs.run_id = subjects.run_id
            and relevance.subject = subjects.subject
            and (relevance.domain is null or relevance.domain = subjects.domain)
    left join item_merges
        on
            subjects.subject_key = item_merges.subject_key
            and relevance.item = item_merges.item
    group by subjects.subject_key, lists_runs.k, coalesce(item_merges.merged_into, relevance.item)
),

ranked_items as (
    select
        *,
        row_number() over (partition by subject_key order by grade desc, item asc) as ideal_place
    from relevant_items
),

ideal_gains as (
    select
        subject_key,
        any_value(k) as k,
        count(*) as n_relevant,
        sum(grade / log2(ideal_place + 1)) filter (where ideal_place <= k) as ideal_gain
    from ranked_items
    group by subject_key
),

responses as (
    select distinct
        responses.run_id,
        responses.lists_key,
        responses.list_key,
        responses.subject_key
    from {{ ref("int_lists_responses") }} as responses
    inner join lists_runs on responses.run_id = lists_runs.run_id
    where
        responses.has_list
        and responses.scheme = 'items'
),

places as (
    select
        lists_key,
        list_key,
        item,
        item_rank
    from {{ ref("int_lists_places") }}
    where not is_repeat
),

-- Järvelin & Kekäläinen (2002): gains are the grades, discounted by log2(rank + 1).
gains as (
    select
        responses.run_id,
        responses.lists_key,
        responses.list_key,
        responses.subject_key,
        count(relevant_items.item) as n_hits,
        coalesce(sum(relevant_items.grade / log2(places.item_rank + 1)), 0) as gain
    from responses
    inner join places
        on
            responses.lists_key = places.lists_key
            and responses.list_key = places.list_key
    left join relevant_items
        on
            responses.subject_key = relevant_items.subject_key
            and places.item = relevant_items.item
    group by responses.run_id, responses.lists_key, responses.list_key, responses.subject_key
),

list_relevance as (
    select
        gains.run_id,
        gains.lists_key,
        gains.list_key,
        gains.n_hits,
        ideal_gains.n_relevant,
        gains.n_hits / ideal_gains.k as precision_at_k,
        gains.n_hits / ideal_gains.n_relevant as recall_at_k,
        gains.gain / ideal_gains.ideal_gain as ndcg
    from gains
    inner join ideal_gains on gains.subject_key = ideal_gains.subject_key
)

select * from list_relevance
