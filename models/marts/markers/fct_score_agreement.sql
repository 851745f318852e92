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
        if(standard_error is null, null, least(1, corrected_middle + 1.959964 * standard_error)) as corrected_high,
        sqrt((mean_square_score_error - pow(mean_score_error, 2)) / nullif(drawn_n - 1, 0)) as score_error_deviation,
        mean_score_error - 1.959964 * score_error_deviation as mean_score_error_low,
        mean_score_error + 1.959964 * score_error_deviation as mean_score_error_high,
        if(
            rogan_gladen_arm is null, null, least(1, greatest(0, rogan_gladen_middle - rogan_gladen_arm))
        ) as rogan_gladen_low,
        if(
            rogan_gladen_arm is null, null, greatest(0, least(1, rogan_gladen_middle + rogan_gladen_arm))
        ) as rogan_gladen_high
    from label_rates
)

{{ contracted("agreement") }}
