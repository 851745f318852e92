{{ config(materialized="by_run") }}

with

contrasts as (
    select
        run_id,
        mitigation,
        attribute,
        group_name,
        reference_group,
        is_crossed
    from {{ run_rows("int_contrasts") }}
    where comparison = 'against_reference'
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name,
        other_groups
    from {{ run_rows("int_prompt_groups") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        {{ question_key() }} as question_key
    from {{ run_rows("stg_ledger__prompts") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        is_crossed
    from {{ ref("int_run_attributes") }}
    where reference_group is null
),

neutral_questions as (
    select distinct {{ question_key() }} as question_key
    from {{ ref("int_answers_neutral_prompts") }}
),

-- A neutral prompt asks the same question only if its language, its subject and all else that is stated are the
-- same: labels would not move between others, and an imported row without a group is no such prompt.
groups as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        coalesce(
            bool_or(neutral_questions.question_key is not null and coalesce(prompt_groups.other_groups, '') = ''), false
        ) as has_neutral
    from prompt_groups
    inner join prompts
        on
            prompt_groups.run_id = prompts.run_id
            and prompt_groups.prompt_id = prompts.prompt_id
    left join neutral_questions on prompts.question_key = neutral_questions.question_key
    group by prompt_groups.run_id, prompt_groups.mitigation, prompt_groups.attribute, prompt_groups.group_name
),

-- Lists and places have no reference: a group is compared with the neutral prompt or, where there is none, all others.
without_reference as (
    select
        groups.run_id,
        groups.mitigation,
        groups.attribute,
        groups.group_name,
        if(groups.has_neutral, '(neutral)', '(others)') as reference_group,
        run_attributes.is_crossed
    from groups
    inner join run_attributes
        on
            groups.run_id = run_attributes.run_id
            and groups.attribute = run_attributes.attribute
),

answers_contrasts as (
    select * from contrasts
    union all by name
    select * from without_reference
)

select
    {{ contrast_id() }} as contrast_id,
    *
from answers_contrasts
where
    -- Unknown groups are not compared.
    not {{ is_unknown_group("group_name") }}
    and not {{ is_unknown_group("reference_group") }}
