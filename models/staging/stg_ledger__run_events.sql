with

run_events as (
    select
        run_id,
        event,
        detail,
        happened_at,
        rowid as event_number
    from {{ source("ledger", "run_events") }}
)

select * from run_events
