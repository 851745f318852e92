{{ config(schema="intermediate", contract={"enforced": false}) }}

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
        group_name
    from exceptions
    where accepted_until >= {{ "date '" ~ var("today") ~ "'" if var("today") else "current_date" }}
)

select distinct * from live_exceptions
