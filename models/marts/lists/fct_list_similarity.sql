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
        pairs.*,
        similarities.*,
        responses.variant,
        responses.wording,
        responses.domain,
        responses.subject,
        responses.attribute,
        responses.group_name,
        pairs.k - responses.n_written as n_places_empty
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

{{ contracted("list_similarity") }}
