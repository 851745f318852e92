with

run_pairs as (
    select *
    from {{ ref("int_run_pairs") }}
),

described_pairs as (
    select
        cast(pair_key as varchar) as pair_key,
        cast(baseline_run_id as varchar) as baseline_run_id,
        cast(run_id as varchar) as run_id,
        cast(baseline_variant as varchar) as baseline_variant,
        cast(variant as varchar) as variant,
        cast(audit as varchar) as audit,
        cast(baseline_target as varchar) as baseline_target,
        cast(target as varchar) as target,
        cast(incomparable_because as varchar) as incomparable_because,
        cast(is_baseline as boolean) as is_baseline,
        cast(is_previous as boolean) as is_previous,
        cast(is_imported as boolean) as is_imported,
        cast(is_current as boolean) as is_current
    from run_pairs
)

select * from described_pairs
