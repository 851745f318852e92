{{ config(materialized="by_run") }}

with

people as (
    select *
    from {{ run_rows("int_decisions_people") }}
    where
        is_paired
        and kind <> 'ranking'
),

prompts as (
    select
        run_id,
        prompt_id,
        system_prompt,
        prompt_text
    from {{ run_rows("stg_ledger__prompts") }}
),

-- A case is what labels move inside: all texts that were asked about it, and all that was answered.
cases as (
    select
        people.pool_key,
        people.run_id,
        concat_ws(' | ', people.template, people.domain, people.subject, people.other_groups) as stratum,
        list(distinct people.group_name) as groups,
        -- An import may not say what was asked.
        count(distinct hash(prompts.system_prompt, prompts.prompt_text)) = 1
        and count(prompts.prompt_text) = count(*) as is_same_prompt,
        count(distinct hash(people.label, people.score, people.is_unknown)) = 1
        -- An unread answer may say anything.
        and not bool_or(people.is_unread) as is_same_answer
    from people
    inner join prompts
        on
            people.run_id = prompts.run_id
            and people.prompt_id = prompts.prompt_id
    group by all
),

unnested as (
    select
        * exclude (groups),
        unnest(groups) as group_name,
        len(groups) as n_groups
    from cases
),

-- Whether every case of a group was the same question with the same answer for all of its groups.
same_prompts as (
    select
        pool_key,
        run_id,
        group_name,
        bool_and(n_groups > 1 and is_same_prompt and is_same_answer) as is_same
    from unnested
    group by pool_key, run_id, group_name
)

select * from same_prompts
where is_same
