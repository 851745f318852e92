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
        coalesce(starts_with(turns, '{"judge":"each"'), false) as is_by_turn,
        system_prompt,
        prompt_text
    from {{ source("ledger", "prompts") }}
)

select * from prompts
