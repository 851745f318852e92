with

decision_gaps as (
    select *
    from {{ ref("fct_decision_gaps") }}
    where variant = 'plain'
),

-- What a target answered before is compared with what it answers now elsewhere (fct_run_comparisons).
current_runs as (
    select comparable_runs.*
    from {{ ref("int_comparable_runs") }} as comparable_runs
    inner join {{ ref("int_run_order") }} as run_order on comparable_runs.run_id = run_order.run_id
    where run_order.is_current
),

paired_runs as (
    select
        one.run_id,
        other.run_id as other_run_id,
        one.audit,
        one.target,
        other.target as other_target
    from current_runs as one
    inner join current_runs as other
        on
            one.audit = other.audit
            and one.run_id < other.run_id
    where {{ incomparable_because("one", "other") }} is null
),

-- Runs are independent, so their variances add, and so do squared arms; for runs that asked about the same subjects
-- this is cautious.
paired_gaps as (
    select
        paired_runs.*,
        one.outcome,
        one.domain,
        one.attribute,
        one.group_name,
        one.reference_group,
        one.gap,
        other.gap as other_gap,
        one.gap - other.gap as difference,
        sqrt(pow(one.standard_error, 2) + pow(other.standard_error, 2)) as standard_error,
        one.adjusted_gap,
        other.adjusted_gap as other_adjusted_gap,
        one.adjusted_gap - other.adjusted_gap as adjusted_difference,
        sqrt(
            pow(one.adjusted_gap - one.adjusted_low, 2) + pow(other.adjusted_high - other.adjusted_gap, 2)
        ) as arm_low,
        sqrt(
            pow(one.adjusted_high - one.adjusted_gap, 2) + pow(other.adjusted_gap - other.adjusted_low, 2)
        ) as arm_high
    from paired_runs
    inner join decision_gaps as one on paired_runs.run_id = one.run_id
    inner join decision_gaps as other
        on
            paired_runs.other_run_id = other.run_id
            and one.outcome = other.outcome
            and one.domain = other.domain
            and one.attribute = other.attribute
            and one.group_name = other.group_name
            and one.reference_group = other.reference_group
),

deviates as (
    select
        *,
        1.959964 * adjusted_difference / nullif(if(adjusted_difference > 0, arm_low, arm_high), 0) as deviate
    from paired_gaps
),

-- Named as the columns that Holm's step-down orders by.
tested as (
    select
        *,
        outcome as measure,
        domain as scheme,
        '' as subject,
        deviate is null as is_insufficient,
        {{ two_sided_normal_p("deviate") }} as p_value
    from deviates
),

holm_steps as (
    select
        *,
        {{ holm_step("p_value", "run_id, other_run_id, is_insufficient") }} as holm_step
    from tested
),

model_comparisons as (
    select
        cast(run_id as varchar) as run_id,
        cast(other_run_id as varchar) as other_run_id,
        cast(audit as varchar) as audit,
        cast(target as varchar) as target,
        cast(other_target as varchar) as other_target,
        cast(outcome as varchar) as outcome,
        cast(domain as varchar) as domain,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(gap as double) as gap,
        cast(other_gap as double) as other_gap,
        cast(difference as double) as difference,
        cast(standard_error as double) as standard_error,
        cast(difference - 1.959964 * standard_error as double) as interval_low,
        cast(difference + 1.959964 * standard_error as double) as interval_high,
        cast(adjusted_gap as double) as adjusted_gap,
        cast(other_adjusted_gap as double) as other_adjusted_gap,
        cast(adjusted_difference as double) as adjusted_difference,
        cast(adjusted_difference - arm_low as double) as adjusted_low,
        cast(adjusted_difference + arm_high as double) as adjusted_high,
        cast(p_value as double) as p_value,
        cast(
            {{ holm_adjusted("holm_step", "p_value", "run_id, other_run_id, is_insufficient") }} as double
        ) as p_value_adjusted
    from holm_steps
)

select * from model_comparisons
