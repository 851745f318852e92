with

run_comparisons as (
    select *
    from {{ ref("fct_run_comparisons") }}
    where baseline_run_id = run_id
),

-- From too few answers there is a difference to see, but nothing to say of it.
errors as (
    select
        *,
        case when verdict <> 'insufficient_data' then standard_error end as known_error
    from run_comparisons
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
        verdict,
        baseline_value as plain_value,
        value as variant_value,
        difference,
        known_error as standard_error,
        difference - 1.959964 * known_error as interval_low,
        difference + 1.959964 * known_error as interval_high,
        {{ two_sided_normal_p("difference / known_error") }} as p_value
    from errors
)

select * from variant_comparisons
