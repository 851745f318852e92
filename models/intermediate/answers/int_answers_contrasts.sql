with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
    where comparison = 'against_reference'
),

prompt_groups as (
    select distinct
        run_id,
        variant,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        is_crossed
    from {{ ref("int_run_attributes") }}
    where reference_group is null
),

neutral_prompts as (
    select distinct
        run_id,
        variant
    from {{ ref("int_answers_neutral_prompts") }}
),

-- Lists and places have no reference: a group is held against the neutral prompt or, where there is none, all others.
without_reference as (
    select
        prompt_groups.run_id,
        prompt_groups.variant,
        prompt_groups.attribute,
        prompt_groups.group_name,
        if(neutral_prompts.run_id is null, '(others)', '(neutral)') as reference_group,
        run_attributes.is_crossed
    from prompt_groups
    inner join run_attributes
        on
            prompt_groups.run_id = run_attributes.run_id
            and prompt_groups.attribute = run_attributes.attribute
    left join neutral_prompts
        on
            prompt_groups.run_id = neutral_prompts.run_id
            and prompt_groups.variant = neutral_prompts.variant
),

answers_contrasts as (
    select * from contrasts
    union all by name
    select * from without_reference
)

select *
from answers_contrasts
where
    -- Whose group nobody knows stands for no group.
    not {{ is_unknown_group("group_name") }}
    and not {{ is_unknown_group("reference_group") }}
