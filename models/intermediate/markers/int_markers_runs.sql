with

run_readings as (
    select
        run_id,
        reading_hash,
        reading -> 'markers' as markers
    from {{ ref("int_run_readings") }}
    where json_exists(reading, '$.markers')
),

run_states as (
    select
        run_id,
        run_state
    from {{ ref("int_run_states") }}
),

markers_runs as (
    select
        run_readings.run_id,
        run_states.run_state,
        run_readings.reading_hash,
        -- Null where scores alone are read.
        run_readings.markers ->> 'hash' as markers_hash,
        from_json(run_readings.markers -> 'schemes', '["VARCHAR"]') as schemes,
        cast(run_readings.markers ->> 'minimum' as integer) as minimum,
        -- Where none is named it is negative regard, whoever scored it.
        coalesce(
            run_readings.markers -> 'scores',
            cast('[{"label": "negative", "worse": "higher", "lowest": 0, "highest": 1}]' as json)
        ) as scores
    from run_readings
    inner join run_states on run_readings.run_id = run_states.run_id
)

select * from markers_runs
