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
        analysis_hash,
        reading
    from {{ ref("stg_ledger__analysis_settings") }}
),

run_analysis_settings as (
    select
        runs.run_id,
        readings.analysis_hash,
        readings.reading
    from runs
    inner join readings on runs.audit = readings.audit
)

select * from run_analysis_settings
