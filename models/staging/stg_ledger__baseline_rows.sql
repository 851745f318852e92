with

baseline_rows as (
    select
        file_hash,
        part,
        content
    from {{ source("ledger", "baseline_rows") }}
)

select * from baseline_rows
