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
        -- Both shares with one answer more of each kind, so that none is certain.
        (sensitivity * sensitivity_n + 1) / (sensitivity_n + 2) as likely_sensitivity,
        (specificity * specificity_n + 1) / (specificity_n + 2) as likely_specificity,
        likely_sensitivity + likely_specificity - 1 as told_apart,
        if(
            share_covered < 0.9 or sensitivity + specificity <= 1, null,
            (scorer_rate + specificity - 1) / (sensitivity + specificity - 1)
        ) as rogan_gladen_rate,
        if(
            rogan_gladen_rate is null or told_apart <= 0, null, (scorer_rate + likely_specificity - 1) / told_apart
        ) as rogan_gladen_middle,
        1.959964 * sqrt(
            scorer_rate * (1 - scorer_rate) * share_of_one
            + pow(1 - rogan_gladen_middle, 2) * likely_specificity * (1 - likely_specificity) / (specificity_n + 2)
            + pow(rogan_gladen_middle, 2) * likely_sensitivity * (1 - likely_sensitivity) / (sensitivity_n + 2)
        ) / told_apart as rogan_gladen_arm,
        least(1, greatest(0, rogan_gladen_middle - rogan_gladen_arm)) as rogan_gladen_low,
        greatest(0, least(1, rogan_gladen_middle + rogan_gladen_arm)) as rogan_gladen_high
    from label_rates
)

{{ contracted("agreement") }}
