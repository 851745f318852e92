with

run_analysis_settings as (
    select
        run_id,
        analysis -> 'decisions' as decisions
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.decisions')
),

runs as (
    select
        run_id,
        spec -> 'answer' as answer
    from {{ ref("stg_ledger__runs") }}
),

decisions_runs as (
    select
        runs.run_id,
        runs.answer ->> 'kind' as kind,
        from_json(runs.answer -> 'labels', '["VARCHAR"]') as labels,
        cast(runs.answer ->> 'minimum' as double) as lowest_score,
        cast(runs.answer ->> 'maximum' as double) as highest_score,
        coalesce(cast(run_analysis_settings.decisions ->> 'ordered' as boolean), false) as is_ordered,
        from_json(run_analysis_settings.decisions -> 'favourable', '["VARCHAR"]') as favourable_labels,
        len(labels) = 2 as has_two_labels,
        coalesce(cast(run_analysis_settings.decisions ->> 'top' as integer), 1) as top_places,
        coalesce(run_analysis_settings.decisions ->> 'selected', 'median') = 'none' as has_no_selection,
        cast(run_analysis_settings.decisions ->> 'paired' as boolean) as is_paired,
        cast(run_analysis_settings.decisions ->> 'against' as double) as against,
        coalesce(cast(run_analysis_settings.decisions ->> 'smallest_share' as double), 0.02) as smallest_share,
        -- Null where the scores that were read decide.
        run_analysis_settings.decisions ->> 'scale' as scale,
        (runs.answer ->> 'currency') is not null as has_currency
    from runs
    inner join run_analysis_settings on runs.run_id = run_analysis_settings.run_id
)

select * from decisions_runs
