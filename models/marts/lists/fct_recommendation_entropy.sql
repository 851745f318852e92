{{ config(materialized="by_run") }}

with

responses as (
    select
        lists_responses.*,
        lists_runs.main_language
    from {{ run_rows("int_lists_responses") }} as lists_responses
    inner join {{ ref("int_lists_runs") }} as lists_runs on lists_responses.run_id = lists_runs.run_id
    where lists_responses.has_list
),

places as (
    select
        list_key,
        item
    from {{ ref("int_lists_places") }}
    where not is_repeat
),

pairs as (
    select *
    from {{ run_rows("int_lists_similarities") }}
    where role = 'rerun'
),

-- Lists whose items are counted together: of one question asked again, or of one group in all perturbed wordings.
pooled_lists as (
    select
        *,
        if(is_neutral, 'neutral', 'same question') as pool,
        question_key as pool_key,
        if(is_neutral, template, attribute) as asked_about,
        if(is_neutral, '', group_name) as pooled_group
    from responses
    union all by name
    select
        *,
        'perturbed wordings' as pool,
        attribute || '=' || group_name as pool_key,
        attribute as asked_about,
        group_name as pooled_group
    from responses
    where
        attribute is not null
        and language = main_language
        and wording not in ('clean', 'indirect')
),

pools as (
    select
        *,
        count(*) over (partition by pool, subject_key, mitigation, scheme, pool_key) as n_lists
    from pooled_lists
    qualify n_lists > 1
),

item_counts as (
    select
        pools.pool,
        pools.run_id,
        pools.mitigation,
        pools.scheme,
        pools.domain,
        pools.subject,
        pools.subject_key,
        pools.pool_key,
        pools.k,
        pools.n_lists,
        places.item,
        min(pools.asked_about) as asked_about,
        min(pools.pooled_group) as group_name,
        count(*) as n_times
    from pools
    inner join places
        on
            pools.list_key = places.list_key
    group by all
),

entropies as (
    select
        pool,
        run_id,
        mitigation,
        scheme,
        domain,
        subject,
        subject_key,
        pool_key,
        k,
        n_lists,
        -- One question may have been written for several attributes; the first in the alphabet names it.
        min(asked_about) as asked_about,
        min(group_name) as group_name,
        count(*) as n_distinct_items,
        -- Shannon entropy in bits of n_times / total.
        log2(sum(n_times)) - sum(n_times * log2(n_times) order by item) / sum(n_times) as entropy
    from item_counts
    group by all
),

agreements as (
    select
        subject_key,
        mitigation,
        scheme,
        question_key,
        avg(jaccard order by jaccard) as mean_jaccard,
        avg(cast(is_identical as integer)) as share_identical
    from pairs
    group by subject_key, mitigation, scheme, question_key
),

-- How good the pooled lists are, where a table says what is relevant.
qualities as (
    select
        pool,
        subject_key,
        mitigation,
        scheme,
        pool_key,
        avg(precision_at_k order by precision_at_k) as mean_precision,
        avg(ndcg order by ndcg) as mean_ndcg
    from pools
    group by pool, subject_key, mitigation, scheme, pool_key
),

recommendation_entropies as (
    select
        entropies.*,
        agreements.mean_jaccard,
        agreements.share_identical,
        qualities.mean_precision,
        qualities.mean_ndcg
    from entropies
    left join qualities
        on
            entropies.pool = qualities.pool
            and entropies.subject_key = qualities.subject_key
            and entropies.mitigation = qualities.mitigation
            and entropies.scheme = qualities.scheme
            and entropies.pool_key = qualities.pool_key
    left join agreements
        on
            entropies.subject_key = agreements.subject_key
            and entropies.mitigation = agreements.mitigation
            and entropies.scheme = agreements.scheme
            and entropies.pool_key = agreements.question_key
),

recommendation_entropy as (
    select
        *,
        -- A list that never changes has log2 of its length, which is no uncertainty.
        entropy - log2(k) as excess_entropy
    from recommendation_entropies
)

{{ contracted("recommendation_entropy") }}
