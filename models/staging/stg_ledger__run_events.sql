with

run_events as (
    select
        run_id,
        event,
        detail,
        event_number,
        happened_at
    from {{ source("ledger", "run_events") }}
)

select * from run_events
