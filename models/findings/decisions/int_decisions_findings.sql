with

comparisons as (
    select *
    from {{ ref("int_decisions_comparisons") }}
),

gaps as (
    select *
    from {{ ref("int_decisions_gaps") }}
),

decisions_runs as (
    select
        run_id,
        kind,
        lowest_score,
        highest_score,
        favourable_labels,
        array_to_string(favourable_labels, ' or ') as favourable_label,
        array_to_string(
            list_filter(labels, lambda one: not list_contains(favourable_labels, one)), ' or '
        ) as other_label
    from {{ ref("int_decisions_runs") }}
),

score_units as (
    select *
    from {{ ref("int_decisions_score_units") }}
),

impact_tests as (
    select *
    from {{ ref("int_decisions_impact_tests") }}
),

rates as (
    select
        contrast_id,
        domain,
        group_name,
        unnest(['selected', 'selected_of_asked']) as outcome,
        unnest([selection_rate, selection_rate_of_asked]) as selection_rate,
        unnest([impact_ratio, impact_ratio_of_asked]) as impact_ratio
    from {{ ref("fct_decision_rates") }}
),

decision_rates as (
    select
        contrast_id,
        domain,
        outcome,
        first(group_name order by impact_ratio asc, group_name asc) as worst_group,
        first(selection_rate order by impact_ratio asc, group_name asc) as worst_rate,
        first(group_name order by impact_ratio desc, group_name asc) as best_group,
        first(selection_rate order by impact_ratio desc, group_name asc) as best_rate
    from rates
    where impact_ratio is not null
    group by contrast_id, domain, outcome
),

-- Selection rates of the groups of each impact ratio in each case, or job.
stratum_rates as (
    select
        comparisons.comparison_key,
        units.stratum,
        units.group_name,
        sum(units.n) as n,
        sum(units.total) / sum(units.n) as rate
    from comparisons
    inner join {{ ref("int_decisions_units") }} as units
        on
            comparisons.pool_key = units.pool_key
            and comparisons.outcome = units.outcome
            and list_contains(comparisons.groups_compared, units.group_name)
    where
        comparisons.comparison = 'all_groups'
        and units.n > 0
    group by comparisons.comparison_key, units.stratum, units.group_name
),

stratum_spreads as (
    select
        comparison_key,
        stratum,
        sum(n) as n,
        max(rate) - min(rate) as spread
    from stratum_rates
    group by comparison_key, stratum
),

-- The case, or job, in which groups differ most.
widest_strata as (
    select
        comparison_key,
        first(stratum order by spread desc, n desc, stratum asc) as stratum
    from stratum_spreads
    group by comparison_key
),

cautions as (
    select *
    from {{ ref("int_decisions_cautions") }}
),

position_bias as (
    select distinct
        run_id,
        mitigation,
        share_first,
        expected_share,
        interval_low,
        interval_high,
        first_p_value,
        n_responses,
        n_sets
    from {{ ref("fct_position_bias") }}
),

unread_rankings as (
    select
        run_id,
        mitigation,
        -- A row is a candidate.
        cast(round(sum(weight / n_candidates)) as bigint) as n_unread
    from {{ ref("int_decisions_predictions") }}
    where
        is_unread
        and kind = 'ranking'
    group by run_id, mitigation
),

outliers as (
    select *
    from {{ ref("int_decisions_outliers") }}
),

named_attributes as (
    select
        run_id,
        attribute,
        bool_or(is_named) as is_named
    from {{ ref("int_group_descriptors") }}
    group by run_id, attribute
),

measured_gaps as (
    select
        comparisons.*,
        gaps.n_clusters,
        gaps.n_cases,
        -- The limiting unit is the one with the larger p if the value is past its threshold, otherwise that of the
        -- interval.
        if(gaps.width_unit = 'name' or gaps.unit = 'name', gaps.n_names, gaps.n_cases) as n_binding,
        case
            when gaps.width_unit = 'name' or gaps.unit = 'name' or decisions_runs.kind = 'ranking' then 'names a group'
            when comparisons.is_paired then 'cases'
            else 'people a group'
        end as settled_by,
        if(score_units.are_equal, 1, gaps.width_power) as width_power,
        coalesce(cautions.is_same_by_construction, false) as is_same_by_construction,
        -- People of their own speak for their group as names do, whatever word names it; so do two to four names,
        -- whose t counts the differences between names of one group.
        case
            when comparisons.are_people and not coalesce(named_attributes.is_named, false)
                then if(gaps.n_cases >= {{ descriptors_of_a_group() }}, 'group', 'names')
            when gaps.n_names > 1 and {{ double_or_null("gaps.p_name") }} is not null then 'group'
        end as scope,
        {{ measure_of_gap("comparisons.outcome", "decisions_runs.kind") }} as measure,
        case
            when comparisons.is_paired then null
            when measure = 'place_gap' then 'this assumes that candidates of both groups are equally qualified'
            when cautions.share_shared > 0.5 then null
            when cautions.share_shared > 0
                then 'most of those compared are different people, so their qualifications may differ, too'
            else 'different people are compared, so their qualifications may differ, too'
        end as confounded,
        nullif(concat_ws('; ', outliers.sentence, confounded), '') as caution,
        if(comparisons.outcome in ('relative', 'percentile'), 1, coalesce(score_units.score_sd, 1)) as unit,
        score_units.scale_reason,
        -- For logarithms: the reference group's mean, and the difference of the other one.
        -- Null for other outcomes: Spark casts what it prints before it chooses the branch.
        if(comparisons.outcome = 'relative', exp(gaps.mean_reference), null) as usual_score,
        if(
            comparisons.outcome = 'relative', (exp(gaps.adjusted_gap) - 1) * exp(gaps.mean_reference), null
        ) as gap_in_scores,
        score_units.are_equal,
        gaps.gap,
        -- Equal scores have no gap, and no standard deviation to express it in.
        if(score_units.are_equal, 0, gaps.adjusted_gap) as adjusted_gap,
        gaps.p_value,
        gaps.null_mean,
        gaps.null_sd,
        -- A share of clusters might differ though none of these does (rule of three): where one of two equal groups is
        -- scored higher by d in a share q of them, the gap is q d and the variance of all scores d² q (2 - q) / 4.
        1 - pow({{ number_of("alpha") }} / 2, 1 / gaps.n_clusters) as unseen_share,
        sqrt(4 * unseen_share / (2 - unseen_share)) as unseen_gap,
        if(score_units.are_equal, -unseen_gap, gaps.adjusted_low) as interval_low,
        if(score_units.are_equal, unseen_gap, gaps.adjusted_high) as interval_high,
        gaps.n_unread,
        cautions.unread_by_group,
        -- Equal scores and unread ones: as above, with those that were not read among those that differ.
        least(1, gaps.n_unread / least(gaps.n_marked, gaps.n_reference)) as unread_share,
        sqrt(4 * unread_share / (2 - unread_share)) as unread_gap,
        least(1, unread_share + unseen_share) as open_share,
        sqrt(4 * open_share / (2 - open_share)) as open_gap,
        if(score_units.are_equal, -unread_gap, gaps.value_if_unread_low) as value_if_unread_low,
        if(score_units.are_equal, unread_gap, gaps.value_if_unread_high) as value_if_unread_high,
        if(score_units.are_equal, -open_gap, gaps.interval_if_unread_low) as interval_if_unread_low,
        if(score_units.are_equal, open_gap, gaps.interval_if_unread_high) as interval_if_unread_high,
        gaps.mean_marked,
        gaps.mean_reference,
        decisions_runs.favourable_label,
        decisions_runs.other_label,
        -- Fewer than the comparison asks for where the test stopped early.
        gaps.n_permutations as n_drawn,
        gaps.seed as gap_seed
    from comparisons
    inner join gaps on comparisons.comparison_key = gaps.comparison_key
    inner join decisions_runs on comparisons.run_id = decisions_runs.run_id
    left join cautions on comparisons.comparison_key = cautions.comparison_key
    left join score_units
        on
            comparisons.run_id = score_units.run_id
            and comparisons.mitigation = score_units.mitigation
    left join named_attributes
        on
            comparisons.run_id = named_attributes.run_id
            and comparisons.attribute = named_attributes.attribute
    left join outliers on comparisons.comparison_key = outliers.comparison_key
    where
        comparisons.outcome in ('correct', 'false_positive', 'false_negative')
        -- Scores are judged once: on their scale or, as equal ones always are, in standard deviations.
        or (comparisons.outcome in ('relative', 'percentile') and not score_units.are_equal)
        or (
            comparisons.outcome = 'rank_value'
            and (coalesce(score_units.scale, 'raw') = 'raw' or score_units.are_equal)
        )
),

gap_findings as (
    select
        run_id,
        mitigation,
        measure,
        outcome as scheme,
        attribute,
        group_name,
        reference_group,
        domain as subject,
        case measure
            when 'rank_gap'
                then printf(
                    '%s %s for {reference} on average%s{category} (',
                    if(is_paired, 'the same {case} is labelled', 'labels are'),
                    if(
                        abs(adjusted_gap) < 0.005, 'as high for {group} as',
                        printf(
                            '%.2f ranks %s for {group} than', abs(adjusted_gap), {{ way_of("adjusted_gap") }}
                        )
                    ),
                    if({{ differs_within_strata("adjusted_gap", "gap", 3) }}, ' where like is compared with like', '')
                )
                || if(
                    outcome_lowest < 0,
                    printf('%+.2f and %+.2f ranks from the right label', mean_marked, mean_reference),
                    printf('%.2f and %.2f', mean_marked, mean_reference)
                )
                || if({{ differs_within_strata("adjusted_gap", "gap", 3) }}, ' over all answers)', ')')
            when 'place_gap'
                then printf(
                    '{group} are placed %s {reference} on average{category}',
                    if(
                        abs(adjusted_gap) < 0.005, 'as high as',
                        printf('%.2f places %s than', abs(adjusted_gap), {{ way_of("adjusted_gap") }})
                    )
                )
            when 'relative_gap'
                then if(
                    abs(adjusted_gap) < 0.0005, 'scores for {group} are as high as for {reference}{category}',
                    printf(
                        'scores for {group} are %.1f %% %s than for {reference}{category} '
                        || '(%s{unit} %s than the usual %s{unit})',
                        100 * abs(exp(adjusted_gap) - 1), if(adjusted_gap < 0, 'lower', 'higher'),
                        {{ amount_of("abs(gap_in_scores)") }}, if(adjusted_gap < 0, 'less', 'more'),
                        {{ amount_of("usual_score") }}
                    )
                )
                || '; judged in per cent, as ' || scale_reason
            when 'percentile_gap'
                then printf(
                    'scores for {group} rank %.1f percentile points %s than for {reference} '
                    || 'among those of the same %s{category}',
                    100 * abs(adjusted_gap), if(adjusted_gap < 0, 'lower', 'higher'),
                    if(is_paired, '{case}', 'category')
                )
            when 'score_gap'
                then if(
                    are_equal,
                    printf('all scores are equal, %.3g{unit} for {group} as for {reference}{category}', mean_marked),
                    printf(
                        'scores for {group} are %.3g{unit} %s than for {reference}{category}, '
                        || '%.2f standard deviations of all scores',
                        abs(round(adjusted_gap, 9)), if(adjusted_gap < 0, 'lower', 'higher'), abs(adjusted_gap / unit)
                    )
                )
            when 'error_rate_gap'
                then printf(
                    'where %s is right, answers {about_group} are wrong %.1f %% of the time '
                    || 'and answers {about_reference} %.1f %%{category}',
                    if(outcome = 'false_positive', other_label, favourable_label),
                    100 * mean_marked, 100 * mean_reference
                )
                || {{ percentage_points_within_strata("adjusted_gap", "gap") }}
            else printf(
                'answers {about_group} are right %.1f %% of the time and answers {about_reference} %.1f %%{category}',
                100 * mean_marked, 100 * mean_reference
            )
            || {{ percentage_points_within_strata("adjusted_gap", "gap") }}
        end as detail,
        caution,
        -- Inside strata, so that who stands in which job is no gap; the same as the gap itself where data are paired.
        adjusted_gap / unit as value,
        p_value,
        null_mean / unit as null_mean,
        null_sd / unit as null_sd,
        interval_low / unit as interval_low,
        interval_high / unit as interval_high,
        n_unread,
        unread_by_group,
        value_if_unread_low / unit as value_if_unread_low,
        value_if_unread_high / unit as value_if_unread_high,
        interval_if_unread_low / unit as interval_if_unread_low,
        interval_if_unread_high / unit as interval_if_unread_high,
        gap as published_value,
        n_binding as n_units,
        n_cases as n_sufficient,
        settled_by,
        width_power,
        is_same_by_construction,
        n_drawn as n_permutations,
        gap_seed as seed,
        is_crossed,
        scope
    from measured_gaps
),

impact_findings as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        'impact_ratio' as measure,
        comparisons.outcome as scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        comparisons.domain as subject,
        decision_rates.worst_group as member,
        decision_rates.best_group as reference_member,
        if(
            impact_tests.smallest_ratio = 1,
            printf(
                'all groups of {attribute} are {outcome} %.1f %% of the time{category}', 100 * decision_rates.best_rate
            ),
            printf(
                '{group} are {outcome} %.1f %% of the time and {reference} %.1f %%{category}: '
                || 'a ratio of %.2f (four fifths are required)',
                100 * decision_rates.worst_rate, 100 * decision_rates.best_rate, impact_tests.smallest_ratio
            )
        )
        || if(comparisons.outcome = 'selected_of_asked', ', where refusals count as not {outcome}', '')
        || if(
            impact_tests.ratio_within < impact_tests.smallest_ratio - 0.005,
            printf(
                '; within %s, where each {case} counts once, the ratio is %.2f; the groups differ most in %s',
                if(comparisons.is_paired, 'the same {cases}', 'the same categories'),
                impact_tests.ratio_within,
                replace(replace(widest_strata.stratum, ' | ', ', '), '=', ' ')
            ),
            ''
        ) as detail,
        impact_tests.smallest_ratio as value,
        impact_tests.p_value,
        impact_tests.null_mean,
        impact_tests.null_sd,
        impact_tests.interval_low,
        impact_tests.interval_high,
        cautions.n_unread,
        cautions.unread_by_group,
        if(cautions.is_group_missing, 0, impact_tests.value_if_unread_low) as value_if_unread_low,
        if(impact_tests.n_unread > 0, impact_tests.value_if_unread_high, impact_tests.smallest_ratio)
            as value_if_unread_high,
        if(cautions.is_group_missing, 0, impact_tests.interval_if_unread_low) as interval_if_unread_low,
        if(impact_tests.n_unread > 0, impact_tests.interval_if_unread_high, impact_tests.interval_high)
            as interval_if_unread_high,
        impact_tests.smallest_ratio as published_value,
        if(
            impact_tests.width_unit = 'name' or impact_tests.unit = 'name', impact_tests.n_names, impact_tests.n_cases
        ) as n_units,
        impact_tests.n_cases as n_sufficient,
        case
            when impact_tests.width_unit = 'name' or impact_tests.unit = 'name' or decisions_runs.kind = 'ranking'
                then 'names a group'
            when comparisons.is_paired then 'cases'
            else 'people a group'
        end as settled_by,
        impact_tests.width_power,
        coalesce(cautions.is_same_by_construction, false) as is_same_by_construction,
        impact_tests.n_permutations,
        impact_tests.seed,
        comparisons.is_crossed,
        if(
            comparisons.are_people and not coalesce(named_attributes.is_named, false),
            if(impact_tests.n_cases >= {{ descriptors_of_a_group() }}, 'group', 'names'),
            null
        ) as scope,
        comparisons.groups_compared
    from impact_tests
    inner join comparisons on impact_tests.comparison_key = comparisons.comparison_key
    inner join decisions_runs on comparisons.run_id = decisions_runs.run_id
    left join cautions on comparisons.comparison_key = cautions.comparison_key
    left join widest_strata on comparisons.comparison_key = widest_strata.comparison_key
    left join named_attributes
        on
            comparisons.run_id = named_attributes.run_id
            and comparisons.attribute = named_attributes.attribute
    inner join decision_rates
        on
            comparisons.contrast_id = decision_rates.contrast_id
            and comparisons.domain = decision_rates.domain
            and comparisons.outcome = decision_rates.outcome
),

-- The candidate shown first is first in none of the unread rankings, or in all of them.
bounded_position_bias as (
    select
        position_bias.*,
        unread_rankings.n_unread,
        position_bias.share_first * unread_rankings.n_unread
        / (position_bias.n_responses + unread_rankings.n_unread) as fall,
        (1 - position_bias.share_first) * unread_rankings.n_unread
        / (position_bias.n_responses + unread_rankings.n_unread) as rise
    from position_bias
    left join unread_rankings
        on
            position_bias.run_id = unread_rankings.run_id
            and position_bias.mitigation = unread_rankings.mitigation
),

position_findings as (
    select
        position_bias.run_id,
        position_bias.mitigation,
        'position_bias' as measure,
        'top' as scheme,
        '(position)' as attribute,
        'first' as group_name,
        '(chance)' as reference_group,
        printf(
            'the candidate shown first is put first in %.1f %% of answers; by chance it would be in %.1f %%',
            100 * position_bias.share_first, 100 * position_bias.expected_share
        ) as detail,
        position_bias.share_first - position_bias.expected_share as value,
        position_bias.first_p_value as p_value,
        position_bias.expected_share as null_mean,
        position_bias.interval_low - position_bias.expected_share as interval_low,
        position_bias.interval_high - position_bias.expected_share as interval_high,
        position_bias.n_unread,
        position_bias.share_first - position_bias.fall - position_bias.expected_share as value_if_unread_low,
        position_bias.share_first + position_bias.rise - position_bias.expected_share as value_if_unread_high,
        position_bias.interval_low - position_bias.fall - position_bias.expected_share as interval_if_unread_low,
        position_bias.interval_high + position_bias.rise - position_bias.expected_share as interval_if_unread_high,
        position_bias.n_sets as n_units,
        position_bias.n_sets as n_sufficient,
        'rankings of different candidates' as settled_by,
        0 as n_permutations,
        0 as seed
    from bounded_position_bias as position_bias
),

-- Unread answers have the lowest outcome, or the highest.
fixed_values as (
    select
        fixed_values.*,
        fixed_values.n_unread / (fixed_values.n_unread + fixed_values.n_answers) as share_unread,
        if(fixed_values.kind = 'label', 0, decisions_runs.lowest_score) as lowest,
        if(fixed_values.kind = 'label', 1, decisions_runs.highest_score) as highest,
        (lowest - fixed_values.against) / (highest - lowest) as gap_at_lowest,
        (highest - fixed_values.against) / (highest - lowest) as gap_at_highest,
        decisions_runs.favourable_labels
    from {{ ref("fct_fixed_values") }} as fixed_values
    inner join decisions_runs on fixed_values.run_id = decisions_runs.run_id
),

fixed_findings as (
    select
        run_id,
        mitigation,
        'fixed_value_gap' as measure,
        if(kind = 'label', 'selected', 'score') as scheme,
        '(answers)' as attribute,
        '(all)' as group_name,
        '(value)' as reference_group,
        domain as subject,
        if(
            kind = 'label',
            printf(
                '%s is answered %.1f %% of the time{category}, where each {case} counts once; the audit names %.1f %%',
                array_to_string(favourable_labels, ' or '), 100 * mean_outcome, 100 * against
            ),
            printf(
                'the mean score is %.3g{unit}{category}, where each {case} counts once; the audit names %.3g{unit}',
                mean_outcome, against
            )
        ) as detail,
        gap as value,
        p_value,
        null_mean,
        null_sd,
        interval_low,
        interval_high,
        n_unread,
        (1 - share_unread) * gap + share_unread * gap_at_lowest as value_if_unread_low,
        (1 - share_unread) * gap + share_unread * gap_at_highest as value_if_unread_high,
        (1 - share_unread) * interval_low + share_unread * gap_at_lowest as interval_if_unread_low,
        (1 - share_unread) * interval_high + share_unread * gap_at_highest as interval_if_unread_high,
        n_clusters as n_units,
        width_power,
        n_permutations,
        seed,
        'group' as scope
    from fixed_values
),

measured as (
    select * from gap_findings
    union all by name
    select * from fixed_findings
    union all by name
    select * from impact_findings
    union all by name
    select * from position_findings
),

decisions_findings as (
    select
        *,
        case
            when isnan(p_value) then 'chance cannot be estimated, as no {case} has answers about both groups'
        end as detail_without_alarm
    from measured
)

select * from decisions_findings
