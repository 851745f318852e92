-- Which groups are steered where? Every alarm, with what was found.
with

alarms as (
    select *
    from {{ ref("fct_alarms") }}
),

measures as (
    select
        measure,
        method
    from {{ ref("dim_measures") }}
)

select
    alarms.audit,
    alarms.target,
    alarms.attribute,
    alarms.group_name,
    alarms.reference_group,
    measures.method as kind_of_answer,
    alarms.subject,
    alarms.measure,
    alarms.explanation as what_was_found,
    alarms.severity,
    alarms.is_excepted as is_accepted,
    alarms.value,
    alarms.threshold,
    alarms.p_value_adjusted as p_adjusted,
    alarms.finding_id
from alarms
inner join measures on alarms.measure = measures.measure
order by
    alarms.audit, alarms.target, alarms.severity, alarms.attribute, alarms.group_name, alarms.measure, alarms.subject,
    alarms.mitigation, alarms.finding_id
