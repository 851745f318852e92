with

run_analysis_settings as (
    select
        run_id,
        analysis_hash,
        analysis -> 'markers' as markers
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.markers')
),

markers_runs as (
    select
        run_analysis_settings.run_id,
        run_analysis_settings.analysis_hash,
        -- Null where scores alone are read.
        run_analysis_settings.markers ->> 'hash' as markers_hash,
        from_json(run_analysis_settings.markers -> 'schemes', '["VARCHAR"]') as schemes,
        cast(run_analysis_settings.markers ->> 'minimum' as integer) as minimum,
        -- Where none is named it is negative regard, whoever scored it.
        coalesce(
            run_analysis_settings.markers -> 'scores',
            cast('[{"label": "negative", "worse": "higher", "lowest": 0, "highest": 1}]' as json)
        ) as scores
    from run_analysis_settings
)

select * from markers_runs
