with

responses as (
    select *
    from {{ ref("int_lists_responses") }}
),

relevance as (
    select *
    from {{ ref("int_lists_relevance") }}
),

-- Neutral questions stand beside the groups, by their template.
grouped_responses as (
    select
        responses.*
        replace (
            case when responses.is_neutral then '(neutral)' else responses.attribute end as attribute,
            case when responses.is_neutral then responses.template else responses.group_name end as group_name
        ),
        relevance.precision_at_k,
        relevance.recall_at_k,
        relevance.ndcg
    from responses
    left join relevance
        on
            responses.lists_key = relevance.lists_key
            and responses.list_key = relevance.list_key
),

list_quality as (
    select
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(scheme as varchar) as scheme,
        cast(wording as varchar) as wording,
        cast(domain as varchar) as domain,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(count(*) as bigint) as n_answers,
        cast(count(*) filter (where has_list) as bigint) as n_lists,
        cast(count(*) filter (where status = 'refused') as bigint) as n_refused,
        cast(count(*) filter (where n_written < k and has_list) as bigint) as n_short,
        cast(count(*) filter (where repeated > 0) as bigint) as n_with_repeats,
        cast(avg(unanswered) as double) as share_unanswered,
        cast(avg(shortfall order by prompt_id, trial) as double) as mean_shortfall,
        cast(avg(repeated order by prompt_id, trial) as double) as mean_repeated,
        cast(avg(precision_at_k order by prompt_id, trial) as double) as mean_precision,
        cast(avg(recall_at_k order by prompt_id, trial) as double) as mean_recall,
        cast(avg(ndcg order by prompt_id, trial) as double) as mean_ndcg
    from grouped_responses
    where attribute is not null
    group by run_id, variant, scheme, wording, domain, attribute, group_name
)

select * from list_quality
