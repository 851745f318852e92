with

measures as (
    select
        cast(measure as varchar) as measure,
        cast(room as varchar) as room,
        cast(scale as varchar) as scale,
        cast(side as varchar) as side,
        cast(clear_scale as varchar) as clear_scale,
        cast(unit as varchar) as unit,
        cast(no_difference as double) as no_difference,
        cast(description as varchar) as description,
        cast(is_at_equal_sizes as boolean) as is_at_equal_sizes
    from {{ ref("measures") }}
)

select * from measures
