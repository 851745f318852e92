{{ config(materialized="by_run") }}

with

-- Neutral questions are listed with the groups, by their template.
grouped_responses as (
    select
        * replace (
            case when is_neutral then '(neutral)' else attribute end as attribute,
            case when is_neutral then template else group_name end as group_name
        )
    from {{ run_rows("int_lists_responses") }}
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
