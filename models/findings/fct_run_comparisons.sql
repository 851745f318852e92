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
        judged.unpaired_difference - judged.unpaired_arm_low as unpaired_interval_low,
        judged.unpaired_difference + judged.unpaired_arm_high as unpaired_interval_high,
        if(judged.worsening > 0, judged.p_worse_adjusted, judged.p_better_adjusted) as p_value_adjusted,
        judged.verdict = 'worse' and {{ is_live_exception("judged") }} as is_excepted
    from judged
)

{{ contracted("run_comparisons") }}
