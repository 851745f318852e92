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

run_states as (
    select
        run_id,
        run_state
    from {{ ref("int_run_states") }}
),

catalogues as (
    select
        catalogue,
        max(catalogue_hash) as catalogue_hash
    from {{ ref("stg_ledger__items") }}
    group by catalogue
),

prices_runs as (
    select
        runs.run_id,
        -- A catalogue may be imported anew without a word of the run.
        {{ integer_key_of(["run_states.run_state", "catalogues.catalogue_hash"]) }} as run_state,
        run_readings.reading_hash,
        run_readings.prices ->> 'catalogue' as catalogue,
        catalogues.catalogue_hash,
        run_readings.prices -> 'category_sets' as category_sets,
        cast(coalesce(run_readings.prices ->> 'levels', runs.answer ->> 'levels') as integer) as n_levels,
        cast(runs.answer ->> 'k' as integer) as k,
        coalesce(runs.answer ->> 'prices', 'levels') = 'amounts' as are_amounts
    from runs
    inner join run_readings on runs.run_id = run_readings.run_id
    inner join run_states on runs.run_id = run_states.run_id
    left join catalogues on (run_readings.prices ->> 'catalogue') = catalogues.catalogue
)

select * from prices_runs
