with

forgotten_runs as (
    select
        run_id,
        reason,
        forgotten_at
    from {{ source("ledger", "forgotten_runs") }}
)

select * from forgotten_runs
