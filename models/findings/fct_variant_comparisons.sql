with

run_comparisons as (
    select *
    from {{ ref("fct_run_comparisons") }}
    where
        baseline_run_id = run_id
        and verdict <> 'insufficient_data'
),

variant_comparisons as (
    select
        run_id,
        variant,
        measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        subject,
        baseline_value as plain_value,
        value as variant_value,
        difference,
        standard_error,
        difference - 1.959964 * standard_error as interval_low,
        difference + 1.959964 * standard_error as interval_high,
        {{ two_sided_normal_p("difference / standard_error") }} as p_value
    from run_comparisons
)

select * from variant_comparisons
