with

responses as (
    select
        lists_responses.*,
        lists_runs.main_language
    from {{ ref("int_lists_responses") }} as lists_responses
    inner join {{ ref("int_lists_runs") }} as lists_runs on lists_responses.run_id = lists_runs.run_id
    where lists_responses.has_list
),

places as (
    select
        lists_key,
        list_key,
        item
    from {{ ref("int_lists_places") }}
    where not is_repeat
),

pairs as (
    select *
    from {{ ref("int_lists_pairs") }}
    where role = 'rerun'
),

similarities as (
    select
        lists_key,
        list_key,
        other_list_key,
        jaccard,
        is_identical
    from {{ ref("int_lists_similarities") }}
),

-- Lists whose items are counted together: of one question asked again, or of one group in all perturbed wordings.
pooled_lists as (
    select
        case when is_neutral then 'neutral' else 'same question' end as pool,
        run_id,
        lists_key,
        variant,
        scheme,
        domain,
        subject,
        question_key as pool_key,
        case when is_neutral then template else attribute end as asked_about,
        case when is_neutral then '' else group_name end as group_name,
        prompt_id,
        trial,
        list_key,
        k
    from responses
    union all by name
    select
        'perturbed wordings' as pool,
        run_id,
        lists_key,
        variant,
        scheme,
        domain,
        subject,
        attribute || '=' || group_name as pool_key,
        attribute as asked_about,
        group_name,
        prompt_id,
        trial,
        list_key,
        k
    from responses
    where
        attribute is not null
        and language = main_language
        and wording not in ('clean', 'indirect')
),

pools as (
    select
        pool,
        run_id,
        any_value(lists_key) as lists_key,
        variant,
        scheme,
        domain,
        subject,
        pool_key,
        -- One question may have been written for several attributes; the first in the alphabet names it.
        min(asked_about) as asked_about,
        min(group_name) as group_name,
        any_value(k) as k,
        count(*) as n_lists
    from pooled_lists
    group by pool, run_id, variant, scheme, domain, subject, pool_key
    having count(*) > 1
),

item_counts as (
    select
        pooled_lists.pool,
        pooled_lists.run_id,
        pooled_lists.variant,
        pooled_lists.scheme,
        pooled_lists.domain,
        pooled_lists.subject,
        pooled_lists.pool_key,
        places.item,
        count(*) as n_times
    from pooled_lists
    inner join places
        on
            pooled_lists.lists_key = places.lists_key
            and pooled_lists.list_key = places.list_key
    group by all
),

entropies as (
    select
        pool,
        run_id,
        variant,
        scheme,
        domain,
        subject,
        pool_key,
        count(*) as n_distinct_items,
        -- Shannon entropy in bits of n_times / total.
        log2(sum(n_times)) - sum(n_times * log2(n_times) order by item) / sum(n_times) as entropy
    from item_counts
    group by pool, run_id, variant, scheme, domain, subject, pool_key
),

agreements as (
    select
        responses.run_id,
        responses.variant,
        responses.scheme,
        responses.domain,
        responses.subject,
        responses.question_key as pool_key,
        avg(similarities.jaccard order by similarities.jaccard) as mean_jaccard,
        avg(cast(similarities.is_identical as integer)) as share_identical
    from pairs
    inner join responses
        on
            pairs.run_id = responses.run_id
            and pairs.scheme = responses.scheme
            and pairs.prompt_id = responses.prompt_id
            and pairs.trial = responses.trial
    inner join similarities
        on
            pairs.lists_key = similarities.lists_key
            and pairs.list_key = similarities.list_key
            and pairs.other_list_key = similarities.other_list_key
    group by all
),

recommendation_entropies as (
    select
        pools.*,
        entropies.n_distinct_items,
        entropies.entropy,
        agreements.mean_jaccard,
        agreements.share_identical
    from pools
    inner join entropies
        on
            pools.pool = entropies.pool
            and pools.run_id = entropies.run_id
            and pools.variant = entropies.variant
            and pools.scheme = entropies.scheme
            and pools.domain = entropies.domain
            and pools.subject is not distinct from entropies.subject
            and pools.pool_key = entropies.pool_key
    left join agreements
        on
            pools.run_id = agreements.run_id
            and pools.variant = agreements.variant
            and pools.scheme = agreements.scheme
            and pools.domain = agreements.domain
            and pools.subject is not distinct from agreements.subject
            and pools.pool_key = agreements.pool_key
)

select * from recommendation_entropies
