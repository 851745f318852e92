with

retracted_runs as (
    select
        run_id,
        reason,
        retracted_at
    from {{ source("ledger", "retracted_runs") }}
)

select * from retracted_runs
