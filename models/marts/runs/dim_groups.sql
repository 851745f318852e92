{{ config(materialized="by_run") }}

with

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
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
        prompt_groups.run_id,
        prompt_groups.attribute,
        prompt_groups.group_name,
        coalesce(prompt_groups.group_name = run_attributes.reference_group, false) as is_reference,
        run_attributes.is_crossed,
        count(distinct prompt_groups.prompt_id) as n_prompts
    from prompt_groups
    inner join run_attributes
        on
            prompt_groups.run_id = run_attributes.run_id
            and prompt_groups.attribute = run_attributes.attribute
    group by
        prompt_groups.run_id, prompt_groups.attribute, prompt_groups.group_name,
        run_attributes.reference_group, run_attributes.is_crossed
)

{{ contracted("groups") }}
