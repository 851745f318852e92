with

prompt_groups as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

carriers as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        carrier
    from {{ ref("stg_ledger__prompt_attributes") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        variant,
        template,
        language,
        perturbation,
        subject,
        domain
    from {{ ref("stg_ledger__prompts") }}
),

dim_prompt_groups as (
    select
        cast(prompt_groups.run_id as varchar) as run_id,
        cast(prompt_groups.prompt_id as varchar) as prompt_id,
        cast(prompt_groups.attribute as varchar) as attribute,
        cast(prompt_groups.group_name as varchar) as group_name,
        cast(carriers.carrier as varchar) as carrier,
        cast(prompts.variant as varchar) as variant,
        cast(prompts.template as varchar) as template,
        cast(prompts.language as varchar) as language,
        cast(prompts.perturbation as varchar) as perturbation,
        cast(coalesce(prompts.subject, '') as varchar) as subject,
        cast(coalesce(prompts.domain, '') as varchar) as domain,
        cast(prompt_groups.slot as integer) as slot
    from prompt_groups
    inner join prompts
        on
            prompt_groups.run_id = prompts.run_id
            and prompt_groups.prompt_id = prompts.prompt_id
    left join carriers
        on
            prompt_groups.run_id = carriers.run_id
            and prompt_groups.prompt_id = carriers.prompt_id
            and prompt_groups.slot = carriers.slot
            and prompt_groups.attribute = carriers.attribute
)

select * from dim_prompt_groups
