with

run_readings as (
    select
        run_id,
        reading_hash,
        reading -> 'prices' as prices
    from {{ ref("int_run_readings") }}
    where json_exists(reading, '$.prices')
),

runs as (
    select
        run_id,
        spec -> 'answer' as answer
    from {{ ref("stg_ledger__runs") }}
),

catalogues as (
    select distinct
        catalogue,
        catalogue_hash
    from {{ ref("stg_ledger__items") }}
),

prices_runs as (
    select
        runs.run_id,
        run_readings.reading_hash,
        run_readings.prices ->> 'catalogue' as catalogue,
        catalogues.catalogue_hash,
        run_readings.prices -> 'category_sets' as category_sets,
        cast(coalesce(run_readings.prices ->> 'levels', runs.answer ->> 'levels') as integer) as n_levels,
        cast(runs.answer ->> 'k' as integer) as k
    from runs
    inner join run_readings on runs.run_id = run_readings.run_id
    left join catalogues on (run_readings.prices ->> 'catalogue') = catalogues.catalogue
)

select * from prices_runs
