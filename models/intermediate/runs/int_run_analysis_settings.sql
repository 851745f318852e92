with

runs as (
    select
        run_id,
        audit
    from {{ ref("stg_ledger__runs") }}
),

settings as (
    select
        audit,
        analysis_hash,
        analysis
    from {{ ref("stg_ledger__analysis_settings") }}
),

run_analysis_settings as (
    select
        runs.run_id,
        settings.analysis_hash,
        settings.analysis
    from runs
    inner join settings on runs.audit = settings.audit
)

select * from run_analysis_settings
