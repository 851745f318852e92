with

erasures as (
    select distinct
        run_id,
        prompt_id,
        trial,
        attempt
    from {{ source("ledger", "erasures") }}
)

select * from erasures
