{{ config(materialized="view") }}

with

units as (
    select *
    from {{ ref("int_decisions_units") }}
),

categories as (
    select
        pool_key,
        outcome,
        group_name
    from {{ ref("int_decisions_categories") }}
    where excluded_reason is null
),

impact_units as (
    select units.*
    from units
    inner join categories
        on
            units.pool_key = categories.pool_key
            and units.outcome = categories.outcome
            and units.group_name = categories.group_name
)

select * from impact_units
