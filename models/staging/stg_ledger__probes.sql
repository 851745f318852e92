with

probes as (
    select
        markers_hash,
        probe,
        category,
        target_group,
        prompt as prompt_text
    from {{ source("ledger", "probes") }}
)

select * from probes
