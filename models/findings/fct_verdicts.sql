-- The gravest first: an attribute is as its gravest measure, and clear only where all of them are.
{% set statuses = "['alarm', 'inconclusive', 'insufficient_data', 'clear']" %}

with

graded as (
    select
        *,
        list_position({{ statuses }}, status) as gravity,
        severity = 'error' and not is_excepted as is_failing
    from {{ ref("fct_findings") }}
    where severity in ('error', 'warn')
),

findings as (
    select
        *,
        bool_or(is_failing) over (partition by run_id, mitigation, attribute) as can_fail
    from graded
),

runs as (
    select
        run_id,
        started_at
    from {{ ref("dim_runs") }}
),

silent_attributes as (
    select distinct
        run_id,
        mitigation,
        attribute
    from {{ ref("fct_group_coverage") }}
    where is_silent
),

-- Warnings and accepted alarms count only for an attribute without other findings.
measured as (
    select
        run_id,
        audit,
        target,
        mitigation,
        attribute,
        can_fail,
        is_simulated,
        is_current,
        measure,
        min(gravity) filter (where is_failing or not can_fail) as gravity,
        bool_or(severity = 'warn' and status = 'alarm') as is_warned,
        bool_or(is_excepted) as is_accepted
    from findings
    group by run_id, audit, target, mitigation, attribute, can_fail, is_simulated, is_current, measure
),

weighed as (
    select
        *,
        min(gravity) over (partition by run_id, mitigation, attribute) as gravest
    from measured
),

judged as (
    select
        run_id,
        audit,
        target,
        mitigation,
        attribute,
        can_fail,
        is_simulated,
        is_current,
        {{ statuses }}[gravest] as status,
        count(gravity) as n_measures,
        count(*) filter (where gravity = gravest) as n_measures_deciding,
        string_agg(measure, ', ' order by measure) filter (where gravity = 1) as measures_with_alarm,
        count(*) filter (where can_fail and is_warned) as n_measures_warning,
        count(*) filter (where is_accepted) as n_measures_accepted
    from weighed
    group by run_id, audit, target, mitigation, attribute, can_fail, is_simulated, is_current, gravest
),

verdicts as (
    select
        judged.*,
        runs.started_at,
        silent_attributes.attribute is not null as is_silent,
        case
            when judged.status = 'alarm' and not judged.can_fail then 'warning'
            -- No pass, where nothing is known of a group.
            when judged.status = 'clear' and silent_attributes.attribute is not null then 'insufficient_data'
            else judged.status
        end as verdict
    from judged
    inner join runs on judged.run_id = runs.run_id
    left join silent_attributes
        on
            judged.run_id = silent_attributes.run_id
            and judged.mitigation = silent_attributes.mitigation
            and judged.attribute = silent_attributes.attribute
)

{{ contracted("verdicts") }}
