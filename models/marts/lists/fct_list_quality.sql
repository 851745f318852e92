{{ config(materialized="by_run") }}

with

responses as (
    select *
    from {{ run_rows("int_lists_responses") }}
),

relevance as (
    select *
    from {{ ref("int_lists_relevance") }}
),

-- Neutral questions stand next to the groups, by their template.
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
        run_id,
        mitigation,
        scheme,
        wording,
        domain,
        attribute,
        group_name,
        count(*) as n_answers,
        count(*) filter (where has_list) as n_lists,
        count(*) filter (where status = 'refused') as n_refused,
        count(*) filter (where n_written < k and has_list) as n_short,
        count(*) filter (where repeated > 0) as n_with_repeats,
        avg(unanswered) as share_unanswered,
        avg(shortfall order by prompt_id, trial) as mean_shortfall,
        avg(repeated order by prompt_id, trial) as mean_repeated,
        avg(precision_at_k order by prompt_id, trial) as mean_precision,
        avg(recall_at_k order by prompt_id, trial) as mean_recall,
        avg(ndcg order by prompt_id, trial) as mean_ndcg
    from grouped_responses
    where attribute is not null
    group by run_id, mitigation, scheme, wording, domain, attribute, group_name
)

{{ contracted("list_quality") }}
