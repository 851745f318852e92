with

findings as (
    select *
    from {{ ref("fct_findings") }}
),

alarms as (
    select *
    from findings
    where
        status = 'alarm'
        and is_current
)

select * from alarms
