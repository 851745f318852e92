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
        coalesce(subject, '') as subject,
        coalesce(domain, '') as domain
    from {{ ref("stg_ledger__prompts") }}
),

dim_prompt_groups as (
    select
        prompt_groups.*,
        prompts.*,
        carriers.carrier
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

{{ contracted("dim_prompt_groups") }}
