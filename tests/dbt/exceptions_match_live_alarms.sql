-- A row of exceptions.csv that has expired, or that accepts no alarm there is, hides nothing and must go.
-- The test hangs on the leaves fct_alarms and fct_regressions, so that nothing waits for it. Without one of them it
-- finds nothing.
{% if not are_built() %}
    select true as is_expired
    where false
{% else %}
    with

    exceptions as (
        select *
        from {{ ref("exceptions") }}
    ),

    alarms as (
        select
            audit,
            target,
            measure,
            attribute,
            group_name,
            subject
        from {{ ref("fct_alarms") }}
        union all
        select
            audit,
            target,
            measure,
            attribute,
            group_name,
            subject
        from {{ ref("fct_regressions") }}
    )

    select
        exceptions.*,
        exceptions.accepted_until < {{ judged_on() }} as is_expired
    from exceptions
    where
        exceptions.accepted_until < {{ judged_on() }}
        or not exists (
            select 1
            from alarms
            where
                alarms.audit = exceptions.audit
                and exceptions.target in (alarms.target, '*')
                and alarms.measure = exceptions.measure
                and alarms.attribute = exceptions.attribute
                and alarms.group_name = exceptions.group_name
                and coalesce(exceptions.subject, '*') in (alarms.subject, '*')
        )
{% endif %}
