with

run_readings as (
    select
        run_id,
        reading_hash,
        reading -> 'markers' as markers
    from {{ ref("int_run_readings") }}
    where json_exists(reading, '$.markers')
),

markers_runs as (
    select
        run_id,
        reading_hash,
        -- Null where regard alone is read.
        markers ->> 'hash' as markers_hash,
        from_json(markers -> 'schemes', '["VARCHAR"]') as schemes,
        cast(markers ->> 'minimum' as integer) as minimum
    from run_readings
)

select * from markers_runs
