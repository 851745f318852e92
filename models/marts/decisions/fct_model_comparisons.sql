with

decision_gaps as (
    select
        *,
        {{ key_of(["outcome", "domain", "attribute", "group_name", "reference_group"]) }} as question_key
    from {{ ref("fct_decision_gaps") }}
    where mitigation = 'plain'
),

-- Earlier runs of a target are compared in fct_run_comparisons.
current_runs as (
    select *
    from {{ ref("int_runs") }}
    where
        is_comparable
        and is_current
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

redefined_groups as (
    select
        paired_runs.run_id,
        paired_runs.other_run_id,
        one.attribute,
        one.group_name
    from paired_runs
    inner join {{ ref("int_run_groups") }} as one on paired_runs.run_id = one.run_id
    inner join {{ ref("int_run_groups") }} as other
        on
            paired_runs.other_run_id = other.run_id
            and one.attribute = other.attribute
            and one.group_name = other.group_name
    where one.definition_hash <> other.definition_hash
),

-- Runs are independent, so their variances add, and so do squared arms; for runs that asked about the same subjects
-- this is cautious.
paired_gaps as (
    select
        paired_runs.*,
        one.contrast_id,
        other.contrast_id as other_contrast_id,
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
            and one.question_key = other.question_key
    -- A group that one run words otherwise is another.
    anti join redefined_groups
        on
            paired_runs.run_id = redefined_groups.run_id
            and paired_runs.other_run_id = redefined_groups.other_run_id
            and list_contains(string_split(one.attribute, '*'), redefined_groups.attribute)
            and list_contains(
                string_split(one.group_name || '*' || one.reference_group, '*'), redefined_groups.group_name
            )
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
        *,
        difference - 1.959964 * standard_error as interval_low,
        difference + 1.959964 * standard_error as interval_high,
        adjusted_difference - arm_low as adjusted_low,
        adjusted_difference + arm_high as adjusted_high,
        {{ holm_adjusted("holm_step", "p_value", "run_id, other_run_id, is_insufficient") }} as p_value_adjusted
    from holm_steps
)

{{ contracted("model_comparisons") }}
