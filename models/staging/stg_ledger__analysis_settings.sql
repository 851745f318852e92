with

settings as (
    select
        audit,
        analysis_hash,
        analysis,
        registered_at
    from {{ source("ledger", "analysis_settings") }}
),

latest_readings as (
    select *
    from settings
    qualify row_number() over (partition by audit order by registered_at desc, analysis_hash asc) = 1
)

select * from latest_readings
