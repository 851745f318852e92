{{ config(materialized="by_run") }}

with

runs as (
    select
        run_id,
        audit,
        source_name
    from {{ run_rows("stg_ledger__runs") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        template,
        coalesce(subject, '') as subject,
        coalesce(domain, '') as domain
    from {{ run_rows("stg_ledger__prompts") }}
),

-- The last attempt counts; collected answers come from no file.
answers as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        status,
        weight,
        source_row,
        kept
    from {{ run_rows("stg_ledger__responses") }}
    where source_row is not null
    qualify row_number() over (partition by run_id, prompt_id, trial order by attempt desc) = 1
),

source_rows as (
    select
        answers.*,
        runs.audit,
        runs.source_name,
        prompts.template,
        prompts.subject,
        prompts.domain
    from answers
    inner join runs on answers.run_id = runs.run_id
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
)

{{ contracted("source_rows") }}
