with

run_events as (
    select *
    from {{ ref("stg_ledger__run_events") }}
    where event = 'read'
),

listed as (
    select
        run_id,
        event_number,
        detail ->> '$.model' as model,
        unnest(
            from_json(
                detail -> '$.readings',
                '[{"prompt_id": "varchar", "trial": "integer", "attempt": "integer", "decision": "varchar"}]'
            )
        ) as reading
    from run_events
),

second_readings as (
    select
        run_id,
        reading.prompt_id,
        reading.trial,
        reading.attempt,
        model,
        reading.decision
    from listed
    where reading.decision is not null
    -- Of several readings of an answer the last one counts.
    qualify
        row_number() over (
            partition by run_id, reading.prompt_id, reading.trial, reading.attempt order by event_number desc
        ) = 1
)

select * from second_readings
