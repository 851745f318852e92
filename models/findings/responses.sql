-- Off unless a project publishes texts (docs/decisions/0021).
{{ config(enabled=var("publish_texts")) }}

with

runs as (
    select
        run_id,
        audit,
        target,
        is_simulated
    from {{ ref("dim_runs") }}
    where is_current
),

prompts as (
    select *
    from {{ ref("stg_ledger__prompts") }}
    where mitigation = 'plain'
),

prompt_attributes as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ ref("stg_ledger__prompt_attributes") }}
),

-- The last attempt counts; one whose text was erased is here without it.
answers as (
    select *
    from {{ ref("stg_ledger__responses") }}
    qualify row_number() over (partition by run_id, prompt_id, trial order by attempt desc) = 1
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        string_agg(attribute || '=' || group_name, '; ' order by attribute, group_name) as groups
    from prompt_attributes
    group by run_id, prompt_id
),

responses as (
    select
        answers.*,
        prompts.template,
        prompts.language,
        coalesce(prompts.subject, '') as subject,
        coalesce(prompts.domain, '') as domain,
        prompts.system_prompt,
        prompts.prompt_text,
        coalesce(prompt_groups.groups, '') as groups,
        runs.audit,
        runs.target,
        runs.is_simulated
    from answers
    inner join runs on answers.run_id = runs.run_id
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    left join prompt_groups
        on
            answers.run_id = prompt_groups.run_id
            and answers.prompt_id = prompt_groups.prompt_id
)

{{ contracted("responses") }}
