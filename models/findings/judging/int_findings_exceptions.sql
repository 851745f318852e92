with

exceptions as (
    select *
    from {{ ref("exceptions") }}
),

live_exceptions as (
    select
        audit,
        target,
        measure,
        attribute,
        group_name,
        -- Blank means everywhere: movies and music, every job.
        coalesce(subject, '*') as subject
    from exceptions
    where accepted_until >= {{ judged_on() }}
)

select distinct * from live_exceptions
