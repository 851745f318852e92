with

-- Without any such answer about anybody there is nothing to judge, and no share of alpha to spend on it, whatever the
-- labels. fct_answer_gaps has the row anyway.
comparisons as (
    select * exclude (n_permutations, seed)
    from {{ ref("int_answers_gap_comparisons") }}
    where n_events > 0
),

gaps as (
    select *
    from {{ ref("int_answers_gaps") }}
),

group_descriptors as (
    select
        run_id,
        attribute,
        bool_or(is_named) as is_named
    from {{ ref("int_group_descriptors") }}
    group by run_id, attribute
),

measured as (
    select
        comparisons.*,
        gaps.adjusted_gap,
        gaps.adjusted_low,
        gaps.adjusted_high,
        gaps.null_mean,
        gaps.null_sd,
        gaps.p_value,
        gaps.n_permutations,
        gaps.seed,
        gaps.n_names,
        gaps.width_power,
        coalesce(group_descriptors.is_named, false) as is_named,
        -- Unit of the larger p or of the longer interval.
        'name' in (gaps.unit, gaps.width_unit) as is_by_name,
        100 * comparisons.n_marked_events / comparisons.n_marked as percent_marked,
        100 * comparisons.n_reference_events / comparisons.n_reference as percent_reference
    from comparisons
    inner join gaps on comparisons.comparison_key = gaps.comparison_key
    left join group_descriptors
        on
            comparisons.run_id = group_descriptors.run_id
            and comparisons.attribute = group_descriptors.attribute
),

gap_findings as (
    select
        run_id,
        mitigation,
        'answer_gap' as measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        case scheme
            when 'refused'
                then printf(
                    '%.1f %% of the answers {about_group} are refusals, and %.1f %% of the answers {about_reference}',
                    percent_marked, percent_reference
                )
            when 'failed'
                then printf(
                    '%.1f %% of the questions {about_group} failed with an error, '
                    || 'and %.1f %% of the questions {about_reference}',
                    percent_marked, percent_reference
                )
            else printf(
                '%.1f %% of the answers {about_group} are malformed, unread, cut off or empty, '
                || 'and %.1f %% of the answers {about_reference}',
                percent_marked, percent_reference
            )
        end
        || {{ percentage_points_within_strata("adjusted_gap", "(percent_marked - percent_reference) / 100") }}
        || if(has_later_attempts, ', at the first attempt', '')
        || case
            when has_pairs and n_cases = 1 then ', over one {case}'
            when has_pairs then printf(', over the same %s {cases}', {{ thousands("n_cases") }})
            else ''
        end
        || if(unit = 'trial', ', asked in these words', '') as detail,
        case
            when isnan(p_value) then 'chance cannot be estimated, as no question was asked about both groups'
        end as detail_without_alarm,
        adjusted_gap as value,
        p_value,
        null_mean,
        null_sd,
        adjusted_low as interval_low,
        adjusted_high as interval_high,
        cast(
            case
                when is_by_name then n_names
                when unit = 'prompt' then least(n_marked_wholes, n_reference_wholes)
                else least(n_marked, n_reference)
            end as bigint
        ) as n_units,
        cast(
            if(
                unit = 'prompt', least(n_marked_wholes, n_reference_wholes), least(n_marked, n_reference)
            ) as bigint
        ) as n_sufficient,
        case
            when are_people and unit = 'prompt' then 'people a group'
            when is_by_name then 'names a group'
            when unit = 'trial' then 'answers about each group'
            else 'prompts about each group'
        end as settled_by,
        width_power,
        -- Trials speak of the prompts that were asked, and of nobody else.
        case when unit = 'trial' then if(is_named, 'names', 'wording') end as scope,
        n_permutations,
        seed,
        is_crossed
    from measured
),

-- The name of the number whose gap the measure of a text is.
labels as (
    select
        replace(measure, '_gap', '') as scheme,
        replace(label, 'the gap in ', '') as label
    from {{ ref("measures") }}
    where method = 'texts'
),

slopes as (
    select
        turn_slopes.*,
        if(turn_slopes.unit = 'name', turn_slopes.n_names, turn_slopes.n_units) as n_judged,
        coalesce(
            labels.label,
            case turn_slopes.scheme
                when 'score' then 'the score'
                when 'rank' then 'the rank of the label'
                when 'selected' then 'the share of favourable labels'
                else 'the share of refusals'
            end
        ) as outcome_label
    from {{ ref("fct_turn_slopes") }} as turn_slopes
    left join labels on turn_slopes.scheme = labels.scheme
),

slope_findings as (
    select
        slopes.run_id,
        slopes.mitigation,
        'turn_slope' as measure,
        slopes.scheme,
        slopes.attribute,
        slopes.group_name,
        slopes.reference_group,
        printf(
            'from the first turn to the last, %s changes by %.2f standard deviations in conversations {about_group} '
            || 'and by %.2f in those {about_reference}',
            slopes.outcome_label, slopes.mean_marked, slopes.mean_reference
        ) as detail,
        case
            when slopes.p_value is null
                then 'chance cannot be estimated, as no conversation was held about both groups'
        end as detail_without_alarm,
        slopes.adjusted_gap as value,
        slopes.p_value,
        slopes.null_mean,
        slopes.null_sd,
        slopes.adjusted_low as interval_low,
        slopes.adjusted_high as interval_high,
        cast(slopes.n_judged as bigint) as n_units,
        cast(slopes.n_units as bigint) as n_sufficient,
        case slopes.unit
            when 'name' then 'names a group'
            when 'prompt' then 'prompts about each group'
            else 'conversations about each group'
        end as settled_by,
        slopes.width_power,
        case when slopes.unit = 'conversation' then if(group_descriptors.is_named, 'names', 'wording') end as scope,
        slopes.n_permutations,
        slopes.seed,
        slopes.is_crossed
    from slopes
    left join group_descriptors
        on
            slopes.run_id = group_descriptors.run_id
            and slopes.attribute = group_descriptors.attribute
),

answers as (
    select
        run_id,
        model_answered,
        requested_at
    from {{ ref("int_answers") }}
    where
        status = 'ok'
        and model_answered is not null
),

models as (
    select
        run_id,
        model_answered,
        count(*) as n_answers,
        min(requested_at) as first_answered_at
    from answers
    group by run_id, model_answered
),

-- The commonest model is the reference, the next one names the finding.
changed_runs as (
    select
        run_id,
        arg_max(model_answered, (n_answers, model_answered)) as reference_model,
        arg_max(model_answered, (n_answers, model_answered), 2)[2] as other_model,
        sum(n_answers) as n_answers,
        max(n_answers) as n_reference_answers,
        string_agg(
            printf(
                '%s gave %s (the first on %s)',
                model_answered, {{ thousands("n_answers") }}, strftime(first_answered_at, '%Y-%m-%d at %H:%M UTC')
            ),
            ', ' order by n_answers desc, model_answered desc
        ) as answers_by_model
    from models
    group by run_id
    having count(*) > 1
),

-- Counted and not estimated: no chance is in it, so both ends of its interval are the value, and p is 0, which takes no
-- other finding's share of alpha either.
change_findings as (
    select
        run_id,
        'plain' as mitigation,
        'model_change' as measure,
        'answers' as scheme,
        '(model)' as attribute,
        other_model as group_name,
        reference_model as reference_group,
        printf(
            'of %s answers, %s: the run does not describe a single model',
            {{ thousands("n_answers") }}, answers_by_model
        ) as detail,
        cast(1 - n_reference_answers / n_answers as double) as value,
        cast(0 as double) as p_value,
        value as interval_low,
        value as interval_high,
        n_answers as n_units,
        0 as n_permutations,
        0 as seed
    from changed_runs
),

answers_findings as (
    select * from gap_findings
    union all by name
    select * from slope_findings
    union all by name
    select * from change_findings
)

select * from answers_findings
