with

label_rates as (
    select *
    from {{ ref("int_markers_label_rates") }}
),

agreement as (
    select
        *,
        {{ wilson_end("agreement", "agreement_n", "-") }} as agreement_low,
        {{ wilson_end("agreement", "agreement_n", "+") }} as agreement_high,
        {{ wilson_end("sensitivity", "sensitivity_n", "-") }} as sensitivity_low,
        {{ wilson_end("sensitivity", "sensitivity_n", "+") }} as sensitivity_high,
        {{ wilson_end("specificity", "specificity_n", "-") }} as specificity_low,
        {{ wilson_end("specificity", "specificity_n", "+") }} as specificity_high,
        if(standard_error is null, null, greatest(0, corrected_middle - 1.959964 * standard_error)) as corrected_low,
        if(standard_error is null, null, least(1, corrected_middle + 1.959964 * standard_error)) as corrected_high
    from label_rates
)

{{ contracted("agreement") }}
