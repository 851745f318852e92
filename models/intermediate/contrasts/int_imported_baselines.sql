with

baselines as (
    select *
    from {{ ref("stg_ledger__baselines") }}
    where file_hash is not null
),

runs as (
    select run_id
    from {{ ref("stg_ledger__runs") }}
),

-- Where the ledger holds the run itself, that is read, and not what the file says of it.
imported_baselines as (
    select
        baselines.audit,
        baselines.target,
        baselines.run_id,
        baselines.file_hash,
        baselines.manifest -> 'spec' as spec,
        baselines.manifest ->> 'analysis_hash' as analysis_hash,
        baselines.manifest ->> 'engine_version' as engine_version
    from baselines
    left join runs on baselines.run_id = runs.run_id
    where runs.run_id is null
)

select * from imported_baselines
