with

runs as (
    select
        run_id,
        audit
    from {{ ref("stg_ledger__runs") }}
),

readings as (
    select
        audit,
        reading_hash,
        reading
    from {{ ref("stg_ledger__readings") }}
),

run_readings as (
    select
        runs.run_id,
        readings.reading_hash,
        readings.reading
    from runs
    inner join readings on runs.audit = readings.audit
)

select * from run_readings
