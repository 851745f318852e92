with

judged as (
    select *
    from {{ ref("int_run_comparisons") }}
),

excepted as (
    select
        judged.*,
        judged.verdict = 'worse' and {{ is_live_exception("judged") }} as is_excepted
    from judged
),

run_comparisons as (
    select
        cast(pair_key as varchar) as pair_key,
        cast(baseline_run_id as varchar) as baseline_run_id,
        cast(run_id as varchar) as run_id,
        cast(baseline_variant as varchar) as baseline_variant,
        cast(variant as varchar) as variant,
        cast(audit as varchar) as audit,
        cast(baseline_target as varchar) as baseline_target,
        cast(target as varchar) as target,
        cast(measure as varchar) as measure,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(subject as varchar) as subject,
        cast(member as varchar) as member,
        cast(verdict as varchar) as verdict,
        cast(severity as varchar) as severity,
        cast(baseline_value as double) as baseline_value,
        cast(value as double) as value,
        cast(difference as double) as difference,
        cast(worsening as double) as worsening,
        cast(worsening - worsening_arm_low * widened as double) as interval_low,
        cast(worsening + worsening_arm_high * widened as double) as interval_high,
        cast(greatest(worsening_arm_low, worsening_arm_high) / 1.959964 as double) as standard_error,
        cast(p_value as double) as p_value,
        cast(tolerance as double) as tolerance,
        cast(
            case when worsening > 0 then p_worse_adjusted else p_better_adjusted end as double
        ) as p_value_adjusted,
        cast(alpha as double) as alpha,
        cast(baseline_n_units as bigint) as baseline_n_units,
        cast(n_units as bigint) as n_units,
        cast(is_at_equal_sizes as boolean) as is_at_equal_sizes,
        cast(is_reversed as boolean) as is_reversed,
        cast(is_excepted as boolean) as is_excepted,
        cast(is_baseline as boolean) as is_baseline,
        cast(is_previous as boolean) as is_previous,
        cast(is_imported as boolean) as is_imported,
        cast(is_current as boolean) as is_current
    from excepted
)

select * from run_comparisons
