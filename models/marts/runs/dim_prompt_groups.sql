{{ config(materialized="by_run") }}

with

prompt_groups as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        group_name,
        -- An intersection has no descriptor of its own.
        if(kind = 'plain', descriptors, null) as descriptor
    from {{ run_rows("int_prompt_groups") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        template,
        language,
        perturbation,
        coalesce(subject, '') as subject,
        coalesce(domain, '') as domain
    from {{ run_rows("stg_ledger__prompts") }}
),

dim_prompt_groups as (
    select
        prompt_groups.*,
        prompts.*
    from prompt_groups
    inner join prompts
        on
            prompt_groups.run_id = prompts.run_id
            and prompt_groups.prompt_id = prompts.prompt_id
)

{{ contracted("dim_prompt_groups") }}
