with

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        template,
        language,
        perturbation,
        domain,
        subject,
        cluster,
        block
    from {{ ref("stg_ledger__prompts") }}
),

prompt_attributes as (
    select distinct
        run_id,
        prompt_id
    from {{ ref("stg_ledger__prompt_attributes") }}
),

runs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
),

asked_templates as (
    select
        run_id,
        unnest(from_json(spec -> 'templates', '[{"neutral": "VARCHAR"}]')) as asked
    from runs
),

-- If templates name their neutral template, other neutral ones ask something else.
matched_templates as (
    select
        run_id,
        list(distinct asked.neutral) as templates
    from asked_templates
    where asked.neutral is not null
    group by run_id
),

neutral_prompts as (
    select prompts.*
    from prompts
    left join prompt_attributes
        on
            prompts.run_id = prompt_attributes.run_id
            and prompts.prompt_id = prompt_attributes.prompt_id
    left join matched_templates on prompts.run_id = matched_templates.run_id
    where
        prompt_attributes.prompt_id is null
        and coalesce(list_contains(matched_templates.templates, prompts.template), true)
)

select * from neutral_prompts
