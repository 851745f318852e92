{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        schemes[1] as judged_scheme
    from {{ ref("int_lists_runs") }}
),

responses as (
    select *
    from {{ run_rows("int_lists_responses") }}
    where wording = 'clean'
),

-- Sums in a fixed order, so that the last digits do not depend on threads.
list_quality as (
    select
        responses.run_id,
        responses.mitigation,
        avg(responses.shortfall order by responses.prompt_id, responses.trial) as shortfall,
        avg(responses.repeated order by responses.prompt_id, responses.trial) as repeated,
        avg(responses.ndcg order by responses.prompt_id, responses.trial) as relevance
    from responses
    inner join lists_runs
        on
            responses.run_id = lists_runs.run_id
            and responses.scheme = lists_runs.judged_scheme
    group by responses.run_id, responses.mitigation
)

select * from list_quality
