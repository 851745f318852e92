with

markers_runs as (
    select
        run_id,
        -- Null where scores alone are read.
        analysis -> 'markers' ->> 'hash' as markers_hash,
        cast(analysis -> 'markers' ->> 'minimum' as integer) as minimum,
        from_json(analysis -> 'markers' -> 'schemes', '["VARCHAR"]') as schemes
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.markers')
),

run_schemes as (
    select
        run_id,
        markers_hash,
        minimum,
        unnest(schemes) as scheme,
        generate_subscripts(schemes, 1) = 1 as is_judged
    from markers_runs
)

select * from run_schemes
