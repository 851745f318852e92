with

runs as (
    select
        run_id,
        audit
    from {{ ref("stg_ledger__runs") }}
),

output_thresholds as (
    select
        measure,
        audit,
        threshold,
        published_threshold
    from {{ ref("output_thresholds") }}
),

-- A row that names the audit goes before one for all.
chosen as (
    select
        runs.run_id,
        output_thresholds.measure,
        output_thresholds.threshold,
        output_thresholds.published_threshold
    from runs
    inner join output_thresholds on output_thresholds.audit in (runs.audit, '*')
    qualify
        row_number() over (
            partition by runs.run_id, output_thresholds.measure
            order by output_thresholds.audit = runs.audit desc
        ) = 1
),

thresholds as (
    select
        run_id,
        max(threshold) filter (where measure = 'stereotype_ratio') as ratio,
        max(published_threshold) filter (where measure = 'stereotype_ratio') as published_ratio,
        max(threshold) filter (where measure = 'negative_regard') as negative_regard,
        max(published_threshold) filter (where measure = 'negative_regard') as published_negative_regard
    from chosen
    group by run_id
)

select * from thresholds
