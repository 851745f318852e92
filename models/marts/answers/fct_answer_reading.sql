{{ config(materialized="by_run") }}

with

answers as (
    select
        run_id,
        prompt_id,
        status,
        read_by,
        n
    from {{ run_rows("int_answers_counts") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation
    from {{ run_rows("stg_ledger__prompts") }}
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

-- Answers to prompts without a group are counted, too.
counted as (
    select
        answers.run_id,
        prompts.mitigation,
        coalesce(prompt_groups.attribute, '') as attribute,
        coalesce(prompt_groups.group_name, '') as group_name,
        answers.read_by,
        answers.status,
        sum(answers.n) as n
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    left join prompt_groups
        on
            answers.run_id = prompt_groups.run_id
            and answers.prompt_id = prompt_groups.prompt_id
    group by
        answers.run_id, prompts.mitigation, coalesce(prompt_groups.attribute, ''),
        coalesce(prompt_groups.group_name, ''), answers.read_by, answers.status
),

answer_reading as (
    select
        *,
        n / sum(n) over (partition by run_id, mitigation, attribute, group_name) as share
    from counted
)

{{ contracted("answer_reading") }}
