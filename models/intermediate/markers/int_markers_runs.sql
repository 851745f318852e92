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
        -- Null where scores alone are read.
        markers ->> 'hash' as markers_hash,
        from_json(markers -> 'schemes', '["VARCHAR"]') as schemes,
        cast(markers ->> 'minimum' as integer) as minimum,
        -- Where none is named it is negative regard, whoever scored it.
        coalesce(
            markers -> 'scores',
            cast('[{"label": "negative", "worse": "higher", "lowest": 0, "highest": 1}]' as json)
        ) as scores
    from run_readings
)

select * from markers_runs
