with

judged as (
    select *
    from {{ ref("int_run_comparisons") }}
    where baseline_run_id = run_id
),

-- From too few answers there is a difference to see, but nothing to say of it.
known as (
    select
        * exclude (standard_error)
        replace (
            case when not is_insufficient then difference_arm_low end as difference_arm_low,
            case when not is_insufficient then difference_arm_high end as difference_arm_high,
            case when not is_insufficient then p_difference end as p_value,
            case when not is_insufficient then shared_error end as shared_error
        )
    from judged
),

mitigation_comparisons as (
    select
        *,
        baseline_value as plain_value,
        value as mitigation_value,
        if(is_paired, shared_error, greatest(difference_arm_low, difference_arm_high) / 1.959964) as standard_error,
        difference - difference_arm_low * widened as interval_low,
        difference + difference_arm_high * widened as interval_high
    from known
)

{{ contracted("mitigation_comparisons") }}
