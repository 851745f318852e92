{%- set runs = new_runs(ref("int_run_states")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_run_states", told_by="run_id") }}

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
    from {{ ref("int_prompt_groups") }}
    where {{ is_of_runs("run_id", runs) }}
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
    from {{ ref("stg_ledger__prompts") }}
    where {{ is_of_runs("run_id", runs) }}
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
