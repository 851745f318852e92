{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

measured as (
    select *
    from {{ ref("int_findings_measured") }}
),

-- What is compared at equal sizes is measured anew for that, and is no family then.
singles as (
    select
        run_id,
        variant,
        measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        subject,
        '' as member,
        value,
        value - interval_low as arm_low,
        interval_high - value as arm_high,
        n_units
    from measured
    where
        (family is null or measure in {{ size_dependent_measures() }})
        and value is not null
),

families as (
    select
        * exclude (family, value, interval_low, interval_high),
        unnest(family) as one
    from measured
    where
        family is not null
        and measure not in {{ size_dependent_measures() }}
),

members as (
    select
        run_id,
        variant,
        measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        subject,
        one.member,
        one.value,
        one.value - one.interval_low as arm_low,
        one.interval_high - one.value as arm_high,
        n_units
    from families
    where one.value is not null
),

-- Where no answer was refused there is no finding, and yet something to hold a run against that refuses.
without_refusals as (
    select
        run_id,
        variant,
        'answer_gap' as measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        '' as subject,
        '' as member,
        adjusted_gap as value,
        adjusted_gap - interval_low as arm_low,
        interval_high - adjusted_gap as arm_high,
        least(n_marked_prompts, n_reference_prompts) as n_units
    from {{ ref("fct_answer_gaps") }}
    where n_marked_events + n_reference_events = 0
),

imported as (
    {{ imported_rows("finding", {
        "run_id": "varchar", "variant": "varchar", "measure": "varchar", "scheme": "varchar", "attribute": "varchar",
        "group_name": "varchar", "reference_group": "varchar", "subject": "varchar", "member": "varchar",
        "value": "double", "arm_low": "double", "arm_high": "double", "n_units": "bigint",
    }) }}
),

comparable as (
    select * from singles
    union all by name
    select * from members
    union all by name
    select * from without_refusals
    union all by name
    select * from imported
)

select
    * replace (
        case when not isnan(arm_low) then arm_low end as arm_low,
        case when not isnan(arm_high) then arm_high end as arm_high
    )
from comparable
