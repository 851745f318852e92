{{ config(materialized="by_run") }}

with

marked_answers as (
    select *
    from {{ run_rows("int_markers_marked_answers") }}
),

groups_of_prompts as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
    where not {{ is_unknown_group("group_name") }}
),

-- Once for all, and once for each group that the prompt speaks of.
sides as (
    select
        *,
        '' as attribute,
        '(all)' as group_name
    from marked_answers
    union all by name
    select
        marked_answers.*,
        groups_of_prompts.attribute,
        groups_of_prompts.group_name
    from marked_answers
    inner join groups_of_prompts
        on
            marked_answers.run_id = groups_of_prompts.run_id
            and marked_answers.prompt_id = groups_of_prompts.prompt_id
),

weighted as (
    select
        *,
        coalesce(weight * sampling_weight, 0) as label_weight,
        coalesce(problematic, 0) as labelled_as,
        coalesce(problematic - mark, 0) as error,
        coalesce(badness - graded_as, 0) as score_error,
        coalesce(problematic in (0, 1), false) as is_agreed
    from sides
),

counted as (
    select
        run_id,
        mitigation,
        scheme,
        scorer,
        label,
        threshold,
        attribute,
        group_name,
        count(*) as n_answers,
        count(*) filter (where is_labelled) as n_labelled,
        count(problematic) as n_drawn,
        count(*) filter (where problematic is not null and not is_agreed) as n_contested,
        count(*) filter (where is_agreed and labelled_as = 1) as n_problematic,
        count(*) filter (where is_agreed and labelled_as = 0) as n_acceptable,
        -- The scorer against labels on which people agree.
        {{ weighted_share("label_weight", "mark = labelled_as", "is_agreed") }} as agreement,
        {{ effective_count("label_weight", "is_agreed") }} as agreement_n,
        {{ weighted_share("label_weight", "mark = 1", "(is_agreed and labelled_as = 1)") }} as sensitivity,
        {{ effective_count("label_weight", "(is_agreed and labelled_as = 1)") }} as sensitivity_n,
        {{ weighted_share("label_weight", "mark = 0", "(is_agreed and labelled_as = 0)") }} as specificity,
        {{ effective_count("label_weight", "(is_agreed and labelled_as = 0)") }} as specificity_n,
        -- Terms of the corrected rate.
        {{ sum_of_answers("weight * cast(is_covered as integer)") }} / {{ sum_of_answers("weight") }} as share_covered,
        {{ sum_of_answers("weight * mark") }} / {{ sum_of_answers("weight") }} as scorer_rate,
        {{ sum_of_answers("pow(weight, 2)") }} / pow({{ sum_of_answers("weight") }}, 2) as share_of_one,
        {{ effective_count("label_weight", "true") }} as drawn_n,
        nullif({{ sum_of_answers("label_weight") }}, 0) as drawn_weight,
        -- Labels about some groups cannot correct rates of others.
        if(
            share_covered < 0.9, null, {{ sum_of_answers("label_weight * error") }} / drawn_weight
        ) as mean_error,
        {{ sum_of_answers("label_weight * pow(error, 2)") }} / drawn_weight as mean_square,
        {{ sum_of_answers("label_weight * labelled_as") }} / drawn_weight as labelled_rate,
        -- Rates of the score itself, towards its worse end.
        {{ sum_of_answers("label_weight * score_error") }} / drawn_weight as mean_score_error,
        {{ sum_of_answers("label_weight * pow(score_error, 2)") }} / drawn_weight as mean_square_score_error,
        -- If all answers were labelled, nothing is uncertain: each has weight 1.
        {{ sum_of_answers("pow(label_weight, 2) * coalesce(1 - 1 / sampling_weight, 0)") }}
        / nullif({{ sum_of_answers("pow(label_weight, 2)") }}, 0) as share_not_labelled
    from weighted
    group by run_id, mitigation, scheme, scorer, label, threshold, attribute, group_name
),

-- Two errors more, one of each kind (Bonett & Price 2012): few labels without an error do not prove that there are no
-- errors.
shrunk as (
    select
        *,
        drawn_n * mean_error / (drawn_n + 2) as likely_error,
        (drawn_n * mean_square + 2) / (drawn_n + 2) as likely_square,
        (drawn_n * labelled_rate + 1) / (drawn_n + 2) as likely_rate
    from counted
),

-- The answers that were labelled are among all answers, so that the errors' mean is uncertain for those that were not.
corrected as (
    select
        *,
        scorer_rate + mean_error as corrected_rate,
        scorer_rate + likely_error as corrected_middle,
        sqrt(
            (likely_square - pow(likely_error, 2)) / (drawn_n + 2) * share_not_labelled
            + likely_rate * (1 - likely_rate) * share_of_one
        ) as standard_error,
        -- Both shares with one answer more of each kind, so that none is certain.
        (sensitivity * sensitivity_n + 1) / (sensitivity_n + 2) as likely_sensitivity,
        (specificity * specificity_n + 1) / (specificity_n + 2) as likely_specificity,
        likely_sensitivity + likely_specificity - 1 as youden_index,
        if(
            share_covered < 0.9 or sensitivity + specificity <= 1, null,
            (scorer_rate + specificity - 1) / (sensitivity + specificity - 1)
        ) as rogan_gladen_rate,
        if(
            rogan_gladen_rate is null or youden_index <= 0, null, (scorer_rate + likely_specificity - 1) / youden_index
        ) as rogan_gladen_middle,
        1.959964 * sqrt(
            scorer_rate * (1 - scorer_rate) * share_of_one
            + pow(1 - rogan_gladen_middle, 2) * likely_specificity * (1 - likely_specificity) / (specificity_n + 2)
            + pow(rogan_gladen_middle, 2) * likely_sensitivity * (1 - likely_sensitivity) / (sensitivity_n + 2)
        ) / youden_index as rogan_gladen_arm
    from shrunk
)

select * from corrected
