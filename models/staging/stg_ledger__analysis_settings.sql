with

readings as (
    select
        audit,
        analysis_hash,
        reading,
        registered_at
    from {{ source("ledger", "readings") }}
),

latest_readings as (
    select *
    from readings
    qualify row_number() over (partition by audit order by registered_at desc, analysis_hash asc) = 1
)

select * from latest_readings
