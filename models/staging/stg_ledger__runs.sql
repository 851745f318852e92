with

runs as (
    select
        run_id,
        audit,
        target,
        target_kind,
        model_asked,
        origin,
        source_name,
        spec_hash,
        spec,
        parameters,
        versions,
        answer_rules_version,
        is_simulated,
        started_at
    from {{ source("ledger", "runs") }}
)

select * from runs
