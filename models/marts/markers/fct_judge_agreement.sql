with

judges as (
    select
        run_id,
        scorer,
        rubric
    from {{ ref("int_markers_judges") }}
),

grades as (
    select
        answer_scores.run_id,
        answer_scores.prompt_id,
        answer_scores.trial,
        answer_scores.mitigation,
        answer_scores.scorer,
        answer_scores.badness,
        judges.rubric
    from {{ ref("int_markers_answer_scores") }} as answer_scores
    inner join judges
        on
            answer_scores.run_id = judges.run_id
            and answer_scores.scorer = judges.scorer
    where answer_scores.badness is not null
),

graded_twice as (
    select
        one.run_id,
        one.prompt_id,
        one.trial,
        one.mitigation,
        one.rubric,
        one.scorer,
        other.scorer as other_scorer,
        one.badness,
        other.badness as other_badness
    from grades as one
    inner join grades as other
        on
            one.run_id = other.run_id
            and one.prompt_id = other.prompt_id
            and one.trial = other.trial
            and one.rubric = other.rubric
            and one.scorer < other.scorer
),

groups_of_prompts as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
    where not {{ is_unknown_group("group_name") }}
),

sides as (
    select
        *,
        '' as attribute,
        '(all)' as group_name
    from graded_twice
    union all by name
    select
        graded_twice.*,
        groups_of_prompts.attribute,
        groups_of_prompts.group_name
    from graded_twice
    inner join groups_of_prompts
        on
            graded_twice.run_id = groups_of_prompts.run_id
            and graded_twice.prompt_id = groups_of_prompts.prompt_id
),

totals as (
    select
        run_id,
        mitigation,
        rubric,
        scorer,
        other_scorer,
        attribute,
        group_name,
        count(*) as n_answers,
        {{ sum_of_answers("cast(badness = other_badness as integer)") }} / count(*) as agreement,
        {{ sum_of_answers("badness") }} / count(*) as mean_badness,
        {{ sum_of_answers("other_badness") }} / count(*) as other_mean_badness,
        {{ sum_of_answers("pow(badness, 2)") }} / count(*) - pow(mean_badness, 2) as variance,
        {{ sum_of_answers("pow(other_badness, 2)") }} / count(*) - pow(other_mean_badness, 2) as other_variance,
        {{ sum_of_answers("pow(badness - other_badness, 2)") }} / count(*) as disagreement,
        -- The agreement of answers paired at random: Cohen's kappa with quadratic weights, of two labels the plain one.
        variance + other_variance + pow(mean_badness - other_mean_badness, 2) as chance
    from sides
    group by run_id, mitigation, rubric, scorer, other_scorer, attribute, group_name
),

-- How far an answer moves kappa.
influences as (
    select
        sides.run_id,
        sides.prompt_id,
        sides.trial,
        totals.mitigation,
        totals.rubric,
        totals.scorer,
        totals.other_scorer,
        totals.attribute,
        totals.group_name,
        totals.n_answers,
        totals.agreement,
        totals.mean_badness,
        totals.other_mean_badness,
        totals.disagreement,
        totals.chance,
        if(
            totals.chance < 1e-12, null,
            (
                pow(sides.badness - sides.other_badness, 2) - totals.disagreement
                - totals.disagreement / totals.chance * (
                    pow(sides.badness - totals.other_mean_badness, 2) + totals.other_variance
                    + pow(sides.other_badness - totals.mean_badness, 2) + totals.variance - 2 * totals.chance
                )
            ) / totals.chance
        ) as influence
    from sides
    inner join totals
        on
            sides.run_id = totals.run_id
            and sides.mitigation = totals.mitigation
            and sides.rubric = totals.rubric
            and sides.scorer = totals.scorer
            and sides.other_scorer = totals.other_scorer
            and sides.attribute = totals.attribute
            and sides.group_name = totals.group_name
),

agreement as (
    select
        run_id,
        mitigation,
        rubric,
        scorer,
        other_scorer,
        attribute,
        group_name,
        n_answers,
        agreement,
        mean_badness,
        other_mean_badness,
        if(any_value(chance) < 1e-12, null, 1 - any_value(disagreement) / any_value(chance)) as kappa,
        sqrt({{ sum_of_answers("pow(influence, 2)") }}) / n_answers as standard_error,
        if(kappa is null, null, greatest(-1, kappa - 1.959964 * standard_error)) as kappa_low,
        if(kappa is null, null, least(1, kappa + 1.959964 * standard_error)) as kappa_high
    from influences
    group by
        run_id, mitigation, rubric, scorer, other_scorer, attribute, group_name, n_answers, agreement, mean_badness,
        other_mean_badness
)

{{ contracted("agreement") }}
