with

pairs as (
    select *
    from {{ ref("int_lists_pairs") }}
),

responses as (
    select *
    from {{ ref("int_lists_responses") }}
),

similarities as (
    select *
    from {{ ref("int_lists_similarities") }}
),

list_similarity as (
    select
        cast(pairs.run_id as varchar) as run_id,
        cast(pairs.scheme as varchar) as scheme,
        cast(pairs.role as varchar) as role,
        cast(pairs.prompt_id as varchar) as prompt_id,
        cast(pairs.other_prompt_id as varchar) as other_prompt_id,
        cast(responses.variant as varchar) as variant,
        cast(pairs.neutral as varchar) as neutral,
        cast(responses.wording as varchar) as wording,
        cast(responses.domain as varchar) as domain,
        cast(responses.subject as varchar) as subject,
        cast(responses.attribute as varchar) as attribute,
        cast(responses.group_name as varchar) as group_name,
        cast(pairs.trial as integer) as trial,
        cast(pairs.other_trial as integer) as other_trial,
        cast(similarities.n_items as integer) as n_items,
        cast(similarities.n_other_items as integer) as n_other_items,
        cast(similarities.n_shared as integer) as n_shared,
        cast(pairs.k - responses.n_written as integer) as n_places_empty,
        cast(similarities.jaccard as double) as jaccard,
        cast(similarities.serp as double) as serp,
        cast(similarities.prag as double) as prag,
        cast(similarities.serp_code as double) as serp_code,
        cast(similarities.prag_code as double) as prag_code,
        cast(similarities.is_identical as boolean) as is_identical
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
)

select * from list_similarity
