{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        k,
        relevance_hash
    from {{ run_rows("int_lists_runs") }}
),

answers as (
    select * exclude (response_hash, answer_text)
    from {{ run_rows("int_lists_answers") }}
),

places as (
    select *
    from {{ run_rows("int_lists_places") }}
),

lengths as (
    select
        list_key,
        count(*) as n_written,
        count(*) filter (where not is_repeat) as n_items
    from places
    group by list_key
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
    from answers
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

relevant_lists as (
    select distinct
        answers.list_key,
        answers.subject_key
    from answers
    inner join lists_runs on answers.run_id = lists_runs.run_id
    where
        answers.scheme = 'items'
        and lists_runs.relevance_hash is not null
),

-- Järvelin & Kekäläinen (2002): gains are the grades, discounted by log2(rank + 1).
gains as (
    select
        relevant_lists.list_key,
        relevant_lists.subject_key,
        count(relevant_items.item) as n_hits,
        coalesce(sum(relevant_items.grade / log2(places.item_rank + 1)), 0) as gain
    from relevant_lists
    inner join places
        on
            relevant_lists.list_key = places.list_key
    left join relevant_items
        on
            relevant_lists.subject_key = relevant_items.subject_key
            and places.item = relevant_items.item
    where not places.is_repeat
    group by relevant_lists.list_key, relevant_lists.subject_key
),

list_relevance as (
    select
        gains.list_key,
        gains.subject_key,
        gains.n_hits / ideal_gains.k as precision_at_k,
        gains.n_hits / ideal_gains.n_relevant as recall_at_k,
        gains.gain / ideal_gains.ideal_gain as ndcg
    from gains
    inner join ideal_gains on gains.subject_key = ideal_gains.subject_key
),

responses as (
    select
        answers.*,
        lists_runs.k,
        coalesce(lengths.n_written, 0) as n_written,
        coalesce(lengths.n_items, 0) as n_items,
        lengths.list_key is not null as has_list,
        -- A failed connection is not related to the group.
        case when answers.status <> 'error' then cast(lengths.list_key is null as integer) end as unanswered,
        (lists_runs.k - lengths.n_written) / lists_runs.k as shortfall,
        (lengths.n_written - lengths.n_items) / lists_runs.k as repeated,
        list_relevance.precision_at_k,
        list_relevance.recall_at_k,
        list_relevance.ndcg
    from answers
    inner join lists_runs on answers.run_id = lists_runs.run_id
    left join lengths
        on
            answers.list_key = lengths.list_key
    left join list_relevance
        on
            answers.list_key = list_relevance.list_key
            and answers.subject_key = list_relevance.subject_key
)

select
    {{ list_set_id("responses") }} as list_set_id,
    *
from responses
