with

judged as (
    select *
    from {{ ref("int_run_comparisons") }}
    where baseline_run_id = run_id
),

-- From too few answers there is a difference to see, but nothing to say of it.
known as (
    select
        * replace (
            case when not is_insufficient then difference_arm_low end as difference_arm_low,
            case when not is_insufficient then difference_arm_high end as difference_arm_high,
            case when not is_insufficient then p_difference end as p_difference
        )
    from judged
),

variant_comparisons as (
    select
        cast(run_id as varchar) as run_id,
        cast(variant as varchar) as variant,
        cast(measure as varchar) as measure,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(subject as varchar) as subject,
        cast(member as varchar) as member,
        cast(verdict as varchar) as verdict,
        cast(baseline_value as double) as plain_value,
        cast(value as double) as variant_value,
        cast(difference as double) as difference,
        cast(greatest(difference_arm_low, difference_arm_high) / 1.959964 as double) as standard_error,
        cast(difference - difference_arm_low * widened as double) as interval_low,
        cast(difference + difference_arm_high * widened as double) as interval_high,
        cast(p_difference as double) as p_value,
        cast(is_reversed as boolean) as is_reversed
    from known
)

select * from variant_comparisons
