{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        lists_key,
        k
    from {{ run_rows("int_lists_runs") }}
),

answers as (
    select *
    from {{ run_rows("int_lists_answers") }}
),

lengths as (
    select
        lists_key,
        list_key,
        count(*) as n_written,
        count(*) filter (where not is_repeat) as n_items
    from {{ ref("int_lists_places") }}
    where lists_key in (select lists_runs.lists_key from lists_runs)
    group by lists_key, list_key
),

prompts as (
    select *
    from {{ run_rows("int_lists_prompts") }}
),

responses as (
    select
        prompts.*,
        answers.lists_key,
        answers.scheme,
        answers.trial,
        answers.seq,
        answers.list_key,
        answers.status,
        lists_runs.k,
        coalesce(lengths.n_written, 0) as n_written,
        coalesce(lengths.n_items, 0) as n_items,
        lengths.list_key is not null as has_list,
        -- A failed connection says nothing about how a group is treated.
        case when answers.status <> 'error' then cast(lengths.list_key is null as integer) end as unanswered,
        (lists_runs.k - lengths.n_written) / lists_runs.k as shortfall,
        (lengths.n_written - lengths.n_items) / lists_runs.k as repeated
    from answers
    inner join lists_runs on answers.run_id = lists_runs.run_id
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    left join lengths
        on
            answers.lists_key = lengths.lists_key
            and answers.list_key = lengths.list_key
)

select
    {{ list_set_id("responses") }} as list_set_id,
    *
from responses
