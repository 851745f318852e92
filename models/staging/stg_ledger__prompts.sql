with

prompts as (
    select
        run_id,
        prompt_id,
        content_hash as prompt_hash,
        template,
        language,
        perturbation,
        mitigation,
        domain,
        subject,
        expected_label,
        cluster,
        block,
        system_prompt,
        prompt_text
    from {{ source("ledger", "prompts") }}
)

select * from prompts
