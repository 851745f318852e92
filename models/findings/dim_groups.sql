with

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        reference_group,
        is_crossed
    from {{ ref("int_run_attributes") }}
),

groups as (
    select
        cast(prompt_groups.run_id as varchar) as run_id,
        cast(prompt_groups.attribute as varchar) as attribute,
        cast(prompt_groups.group_name as varchar) as group_name,
        cast(coalesce(prompt_groups.group_name = run_attributes.reference_group, false) as boolean) as is_reference,
        cast(run_attributes.is_crossed as boolean) as is_crossed,
        cast(count(distinct prompt_groups.prompt_id) as bigint) as n_prompts
    from prompt_groups
    inner join run_attributes
        on
            prompt_groups.run_id = run_attributes.run_id
            and prompt_groups.attribute = run_attributes.attribute
    group by
        prompt_groups.run_id, prompt_groups.attribute, prompt_groups.group_name,
        run_attributes.reference_group, run_attributes.is_crossed
)

select * from groups
