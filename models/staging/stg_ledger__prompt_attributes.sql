with

prompt_attributes as (
    select
        run_id,
        prompt_id,
        slot,
        attribute,
        group_name,
        descriptor
    from {{ source("ledger", "prompt_attributes") }}
)

select * from prompt_attributes
