with

judged as (
    select *
    from {{ ref("int_run_comparisons") }}
),

run_comparisons as (
    select
        judged.*,
        judged.worsening - judged.worsening_arm_low * judged.widened as interval_low,
        judged.worsening + judged.worsening_arm_high * judged.widened as interval_high,
        greatest(judged.worsening_arm_low, judged.worsening_arm_high) / 1.959964 as standard_error,
        if(judged.worsening > 0, judged.p_worse_adjusted, judged.p_better_adjusted) as p_value_adjusted,
        judged.verdict = 'worse' and {{ is_live_exception("judged") }} as is_excepted
    from judged
)

{{ contracted("run_comparisons") }}
