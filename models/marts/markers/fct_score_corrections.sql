with

contrasts as (
    select *
    from {{ ref("int_contrasts") }}
    where comparison = 'against_reference'
),

label_rates as (
    select *
    from {{ ref("int_markers_label_rates") }}
),

compared as (
    select
        contrasts.contrast_id,
        contrasts.run_id,
        contrasts.mitigation,
        contrasts.attribute,
        contrasts.group_name,
        contrasts.reference_group,
        marked.scheme,
        marked.scorer,
        marked.label,
        marked.n_drawn as n_marked_drawn,
        reference.n_drawn as n_reference_drawn,
        marked.scorer_rate as scorer_rate_marked,
        reference.scorer_rate as scorer_rate_reference,
        marked.corrected_rate as corrected_rate_marked,
        reference.corrected_rate as corrected_rate_reference,
        marked.rogan_gladen_rate - reference.rogan_gladen_rate as rogan_gladen_gap,
        marked.rogan_gladen_middle - reference.rogan_gladen_middle as rogan_gladen_middle,
        sqrt(pow(marked.rogan_gladen_arm, 2) + pow(reference.rogan_gladen_arm, 2)) as rogan_gladen_arm,
        marked.corrected_middle - reference.corrected_middle as corrected_middle,
        sqrt(pow(marked.standard_error, 2) + pow(reference.standard_error, 2)) as standard_error
    from contrasts
    inner join label_rates as marked
        on
            contrasts.run_id = marked.run_id
            and contrasts.mitigation = marked.mitigation
            and contrasts.attribute = marked.attribute
            and contrasts.group_name = marked.group_name
    inner join label_rates as reference
        on
            contrasts.run_id = reference.run_id
            and contrasts.mitigation = reference.mitigation
            and contrasts.attribute = reference.attribute
            and contrasts.reference_group = reference.group_name
            and marked.scheme = reference.scheme
),

corrections as (
    select
        *,
        scorer_rate_marked - scorer_rate_reference as scorer_gap,
        corrected_rate_marked - corrected_rate_reference as corrected_gap,
        corrected_middle - 1.959964 * standard_error as corrected_low,
        corrected_middle + 1.959964 * standard_error as corrected_high,
        rogan_gladen_middle - rogan_gladen_arm as rogan_gladen_low,
        rogan_gladen_middle + rogan_gladen_arm as rogan_gladen_high
    from compared
)

{{ contracted("corrections") }}
