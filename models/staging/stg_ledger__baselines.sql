with

baselines as (
    select
        audit,
        target,
        run_id,
        file_hash,
        manifest,
        set_at
    from {{ source("ledger", "baselines") }}
),

latest_baselines as (
    select *
    from baselines
    qualify row_number() over (partition by audit, target order by set_at desc) = 1
),

pinned as (
    select *
    from latest_baselines
    where run_id is not null
)

select * from pinned
