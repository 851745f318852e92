with

-- A measure without families is the only member of its family. Measures compared at equal sizes are measured again and
-- are no family then.
families as (
    select
        findings.*,
        unnest(
            if(
                findings.family is null or measures.is_at_equal_sizes,
                cast(
                    [
                        {
                            'value': findings.value,
                            'p_value': findings.p_value,
                            'detail': findings.detail,
                            'member': '',
                            'interval_low': findings.interval_low,
                            'interval_high': findings.interval_high
                        }
                    ] as {{ family_type() }}
                ),
                findings.family
            )
        ) as one
    from {{ ref("int_findings_measured") }} as findings
    inner join {{ ref("dim_measures") }} as measures on findings.measure = measures.measure
),

members as (
    select
        run_id,
        mitigation,
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
        mitigation,
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
        "run_id": "varchar", "mitigation": "varchar", "measure": "varchar", "scheme": "varchar", "attribute": "varchar",
        "group_name": "varchar", "reference_group": "varchar", "subject": "varchar", "member": "varchar",
        "value": "double", "arm_low": "double", "arm_high": "double", "n_units": "bigint",
    }) }}
),

comparable as (
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
