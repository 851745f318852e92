{#- Sums in a fixed order, so that the last digits do not depend on threads. -#}
{%- set order = "order by pairs.prompt_id, pairs.trial, pairs.other_prompt_id, pairs.other_trial" %}

with

responses as (
    select *
    from {{ ref("int_lists_responses") }}
    where attribute is not null
),

pairs as (
    select *
    from {{ ref("int_lists_pairs") }}
    where
        role = 'neutral'
        and is_kept
),

similarities as (
    select *
    from {{ ref("int_lists_similarities") }}
),

relevance as (
    select *
    from {{ ref("int_lists_relevance") }}
),

lists_runs as (
    select
        run_id,
        personality
    from {{ ref("int_lists_runs") }}
),

-- What a subject's answers about a group amount to, whether or not there is a neutral list to compare with.
answered as (
    select
        responses.run_id,
        responses.lists_key,
        responses.variant,
        responses.scheme,
        responses.wording,
        responses.domain,
        responses.attribute,
        responses.is_crossed,
        responses.group_name,
        responses.subject,
        count(*) as n_answers,
        count(*) filter (where responses.has_list) as n_lists,
        avg(responses.unanswered order by responses.prompt_id, responses.trial) as unanswered,
        avg(responses.shortfall order by responses.prompt_id, responses.trial) as shortfall,
        avg(responses.repeated order by responses.prompt_id, responses.trial) as repeated,
        avg(relevance.ndcg order by responses.prompt_id, responses.trial) as ndcg
    from responses
    left join relevance
        on
            responses.lists_key = relevance.lists_key
            and responses.list_key = relevance.list_key
    group by all
),

compared as (
    select
        responses.run_id,
        responses.variant,
        responses.scheme,
        pairs.neutral,
        bool_or(pairs.is_judged_neutral) as is_judged_neutral,
        responses.wording,
        responses.domain,
        responses.attribute,
        responses.group_name,
        responses.subject,
        count(*) as n_pairs,
        avg(similarities.jaccard {{ order }}) as jaccard,
        avg(similarities.serp {{ order }}) as serp,
        avg(similarities.prag {{ order }}) as prag,
        avg(similarities.serp_code {{ order }}) as serp_code,
        avg(similarities.prag_code {{ order }}) as prag_code
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
    group by
        responses.run_id, responses.variant, responses.scheme, pairs.neutral, responses.wording, responses.domain,
        responses.attribute, responses.group_name, responses.subject
),

-- Where several neutral prompts would be judged, the one that most subjects have been compared with is.
neutrals as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        wording,
        attribute,
        bool_or(is_judged_neutral)
        and row_number() over (
            partition by run_id, variant, scheme, wording, attribute
            order by bool_or(is_judged_neutral) desc, count(distinct subject) desc, neutral asc
        ) = 1 as is_judged_neutral
    from compared
    group by run_id, variant, scheme, neutral, wording, attribute
),

-- Every question asked about a group has a row, without similarities where there was no list.
values_of_attributes as (
    select
        answered.run_id,
        answered.lists_key,
        answered.variant,
        answered.scheme,
        neutrals.neutral,
        neutrals.is_judged_neutral,
        answered.wording,
        answered.domain,
        answered.attribute,
        answered.is_crossed,
        answered.group_name,
        answered.subject,
        answered.n_answers,
        answered.n_lists,
        answered.unanswered,
        answered.shortfall,
        answered.repeated,
        answered.ndcg,
        coalesce(compared.n_pairs, 0) as n_pairs,
        compared.jaccard,
        compared.serp,
        compared.prag,
        compared.serp_code,
        compared.prag_code
    from answered
    inner join neutrals
        on
            answered.run_id = neutrals.run_id
            and answered.variant = neutrals.variant
            and answered.scheme = neutrals.scheme
            and answered.wording = neutrals.wording
            and answered.attribute = neutrals.attribute
    left join compared
        on
            answered.run_id = compared.run_id
            and answered.variant = compared.variant
            and answered.scheme = compared.scheme
            and neutrals.neutral = compared.neutral
            and answered.wording = compared.wording
            and answered.domain = compared.domain
            and answered.attribute = compared.attribute
            and answered.group_name = compared.group_name
            and answered.subject is not distinct from compared.subject
),

-- All groups of all attributes side by side, the people described by who they are rather than by their personality.
values_of_all_groups as (
    select
        values_of_attributes.* replace (
            '(all)' as attribute,
            values_of_attributes.attribute || ': ' || values_of_attributes.group_name as group_name
        )
    from values_of_attributes
    inner join lists_runs on values_of_attributes.run_id = lists_runs.run_id
    where
        not values_of_attributes.is_crossed
        and values_of_attributes.attribute is distinct from lists_runs.personality
        and values_of_attributes.wording = 'clean'
),

group_values as (
    select * from values_of_attributes
    union all by name
    select * from values_of_all_groups
)

select * from group_values
