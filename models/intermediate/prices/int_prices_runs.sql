with

run_analysis_settings as (
    select
        run_id,
        analysis -> 'prices' as prices
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.prices')
),

runs as (
    select
        run_id,
        spec -> 'answer' as answer
    from {{ ref("stg_ledger__runs") }}
),

prices_runs as (
    select
        runs.run_id,
        run_analysis_settings.prices ->> 'catalogue' as catalogue,
        run_analysis_settings.prices -> 'category_sets' as category_sets,
        cast(coalesce(run_analysis_settings.prices ->> 'levels', runs.answer ->> 'levels') as integer) as n_levels,
        cast(runs.answer ->> 'k' as integer) as k,
        coalesce(runs.answer ->> 'prices', 'levels') = 'amounts' as are_amounts
    from runs
    inner join run_analysis_settings on runs.run_id = run_analysis_settings.run_id
)

select * from prices_runs
