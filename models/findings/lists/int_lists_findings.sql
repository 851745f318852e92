with

lists_runs as (
    select
        run_id,
        similarity,
        personality
    from {{ ref("int_lists_runs") }}
),

comparisons as (
    select
        comparisons.*,
        lists_runs.similarity,
        lists_runs.personality
    from {{ ref("int_lists_comparisons") }} as comparisons
    inner join lists_runs on comparisons.run_id = lists_runs.run_id
    where comparisons.is_judged
),

spreads as (
    select *
    from {{ ref("int_lists_spreads") }}
),

similarity_spread as (
    select *
    from {{ ref("fct_similarity_spread") }}
    where is_judged
),

-- By the published code's own reading, where the run has it: what the published thresholds are about.
published_spread as (
    select *
    from {{ ref("fct_similarity_spread") }}
    where scheme = 'reference'
),

published_fairness as (
    select *
    from {{ ref("fct_personality_fairness") }}
    where scheme = 'reference'
),

robustness as (
    select *
    from {{ ref("fct_robustness") }}
    where attribute = '(all)'
),

published_robustness as (
    select *
    from robustness
    where scheme = 'reference'
),

robustness_comparisons as (
    select *
    from {{ ref("int_lists_robustness_comparisons") }}
    where is_judged
),

feature_means as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        group_name,
        unnest(['unanswered', 'shortfall', 'repeated', 'ndcg']) as feature,
        unnest([
            avg(unanswered order by subject), avg(shortfall order by subject), avg(repeated order by subject),
            avg(ndcg order by subject)
        ]) as mean
    from {{ ref("int_lists_group_values") }}
    group by run_id, variant, scheme, neutral, wording, domain, attribute, group_name
),

-- The groups that lie farthest apart.
feature_ends as (
    select
        run_id,
        variant,
        scheme,
        neutral,
        wording,
        domain,
        attribute,
        feature,
        first(group_name order by mean desc, group_name asc) as highest_group,
        first(group_name order by mean asc, group_name asc) as lowest_group
    from feature_means
    where mean is not null
    group by run_id, variant, scheme, neutral, wording, domain, attribute, feature
),

-- Which statistic of which feature is which measure. Two groups have SNSV = SNSR / 2, so one of the two is judged.
measured_spreads as (
    select
        comparisons.comparison_key,
        comparisons.n_groups,
        spreads.feature,
        spreads.statistic,
        spreads.value,
        spreads.chance,
        spreads.debiased,
        spreads.null_mean,
        spreads.null_sd,
        spreads.p_value,
        spreads.standard_error,
        spreads.interval_low,
        spreads.interval_high,
        spreads.n_smallest_group,
        spreads.n_permutations,
        spreads.seed,
        case
            when spreads.feature = 'unanswered' then 'unanswered_spread'
            when spreads.feature = 'shortfall' then 'shortfall_spread'
            when spreads.feature = 'repeated' then 'repeat_spread'
            when spreads.feature = 'ndcg' then 'relevance_spread'
            when spreads.statistic = 'range' then 'snsr'
            when spreads.statistic = 'sd' then 'snsv'
        end as measure
    from comparisons
    inner join spreads on comparisons.comparison_key = spreads.comparison_key
    where
        spreads.statistic <> 'mean_absolute_deviation'
        and (
            spreads.feature in ('unanswered', 'shortfall', 'repeated', 'ndcg')
            or (
                spreads.feature = comparisons.similarity
                and not (spreads.statistic = 'sd' and comparisons.n_groups = 2)
            )
        )
),

spread_findings as (
    select
        comparisons.run_id,
        comparisons.variant,
        measured_spreads.measure,
        case
            when measured_spreads.measure in ('snsr', 'snsv') then measured_spreads.feature
            else comparisons.scheme
        end as scheme,
        comparisons.attribute,
        '(all)' as group_name,
        if(measured_spreads.measure in ('snsr', 'snsv'), '(neutral)', '(each other)') as reference_group,
        concat_ws(', ', nullif(comparisons.domain, ''), nullif(comparisons.wording, 'clean')) as subject,
        case measured_spreads.measure
            when 'snsr' then similarity_spread.least_similar_group
            when 'relevance_spread' then feature_ends.lowest_group
            else feature_ends.highest_group
        end as member,
        case measured_spreads.measure
            when 'snsr' then similarity_spread.most_similar_group
            when 'relevance_spread' then feature_ends.highest_group
            else feature_ends.lowest_group
        end as reference_member,
        case measured_spreads.measure
            when 'snsr'
                then printf(
                    'lists keep most of the neutral list for %s (%s %.2f) and least for %s (%.2f), a spread of %.3f'
                    || ', where chance alone gives %.3f%s%s',
                    similarity_spread.most_similar_group, similarity_spread.similarity_name,
                    similarity_spread.highest_similarity, similarity_spread.least_similar_group,
                    similarity_spread.lowest_similarity, measured_spreads.value, measured_spreads.chance,
                    coalesce(
                        printf(' and asking the same question again %.3f', similarity_spread.snsr_noise_floor), ''
                    ),
                    case
                        when measured_spreads.n_groups = 2
                            then ' (of two groups SNSV is half of SNSR, so both thresholds are one test)'
                        else ''
                    end
                )
            when 'snsv'
                then printf(
                    'the groups'' similarities to the neutral list have a standard deviation of %.3f'
                    || ', where chance alone gives %.3f',
                    measured_spreads.value, measured_spreads.chance
                )
            when 'unanswered_spread'
                then printf(
                    'the share of questions that got no list differs by up to %.3f between groups'
                    || ', where chance alone gives %.3f',
                    measured_spreads.value, measured_spreads.chance
                )
            when 'shortfall_spread'
                then printf(
                    'the share of places left empty differs by up to %.3f between groups'
                    || ', where chance alone gives %.3f',
                    measured_spreads.value, measured_spreads.chance
                )
            when 'repeat_spread'
                then printf(
                    'the share of places that repeat an item differs by up to %.3f between groups'
                    || ', where chance alone gives %.3f',
                    measured_spreads.value, measured_spreads.chance
                )
            else printf(
                'the lists'' NDCG differs by up to %.3f between groups, where chance alone gives %.3f',
                measured_spreads.value, measured_spreads.chance
            )
        end as detail,
        comparisons.reading_hash,
        -- What lies beyond chance is judged: few subjects alone make groups differ.
        measured_spreads.debiased as value,
        measured_spreads.debiased as beyond_chance,
        measured_spreads.p_value,
        measured_spreads.null_mean,
        measured_spreads.null_sd,
        measured_spreads.standard_error,
        measured_spreads.interval_low,
        measured_spreads.interval_high,
        case measured_spreads.measure
            when 'snsr' then coalesce(published_spread.snsr, measured_spreads.value)
            when 'snsv' then coalesce(published_spread.snsv, measured_spreads.value)
            else measured_spreads.value
        end as published_value,
        measured_spreads.n_smallest_group as n_units,
        measured_spreads.n_permutations,
        measured_spreads.seed,
        comparisons.is_crossed
    from measured_spreads
    inner join comparisons on measured_spreads.comparison_key = comparisons.comparison_key
    left join similarity_spread
        on
            comparisons.run_id = similarity_spread.run_id
            and comparisons.variant = similarity_spread.variant
            and comparisons.scheme = similarity_spread.scheme
            and comparisons.neutral = similarity_spread.neutral
            and comparisons.wording = similarity_spread.wording
            and comparisons.domain = similarity_spread.domain
            and comparisons.attribute = similarity_spread.attribute
            and comparisons.similarity = similarity_spread.similarity_name
    left join published_spread
        on
            {{ same_comparison("comparisons", "published_spread") }}
            and measured_spreads.feature = published_spread.similarity_name
    left join feature_ends
        on
            {{ same_comparison("comparisons", "feature_ends") }}
            and comparisons.scheme = feature_ends.scheme
            and measured_spreads.feature = feature_ends.feature
),

personality_findings as (
    select
        comparisons.run_id,
        comparisons.variant,
        'personality_fairness' as measure,
        spreads.feature as scheme,
        comparisons.attribute,
        '(all)' as group_name,
        '(neutral)' as reference_group,
        concat_ws(', ', nullif(comparisons.domain, ''), nullif(comparisons.wording, 'clean')) as subject,
        printf(
            'lists for personalities deviate by %.3f on average from their mean similarity, '
            || 'where chance alone gives %.3f',
            spreads.value, spreads.chance
        ) as detail,
        comparisons.reading_hash,
        1 - spreads.debiased as value,
        spreads.debiased as beyond_chance,
        spreads.p_value,
        1 - spreads.null_mean as null_mean,
        spreads.null_sd,
        spreads.standard_error,
        1 - spreads.interval_high as interval_low,
        1 - spreads.interval_low as interval_high,
        coalesce(published_fairness.pafs, 1 - spreads.value) as published_value,
        spreads.n_smallest_group as n_units,
        spreads.n_permutations,
        spreads.seed,
        comparisons.is_crossed
    from comparisons
    inner join spreads
        on
            comparisons.comparison_key = spreads.comparison_key
            and comparisons.similarity = spreads.feature
    left join published_fairness
        on
            {{ same_comparison("comparisons", "published_fairness") }}
            and spreads.feature = published_fairness.similarity_name
    where
        spreads.statistic = 'mean_absolute_deviation'
        and comparisons.attribute = comparisons.personality
),

robustness_findings as (
    select
        robustness_comparisons.run_id,
        robustness_comparisons.variant,
        'robustness' as measure,
        robustness_comparisons.similarity as scheme,
        '(wording)' as attribute,
        robustness_comparisons.wording as group_name,
        'clean' as reference_group,
        robustness_comparisons.domain as subject,
        case
            when robustness.rerun_similarity is null
                then 'no question was asked twice in the same words, so there is no noise floor to hold it against'
            else printf(
                'lists in the wording %s have a similarity of %.2f to those of the clean question, '
                || 'which has %.2f to itself when asked again',
                robustness_comparisons.wording, robustness.similarity, robustness.rerun_similarity
            )
        end as detail,
        robustness_comparisons.reading_hash,
        robustness.similarity as value,
        robustness.p_value,
        robustness.rerun_similarity as null_mean,
        robustness.standard_error,
        robustness.interval_low,
        robustness.interval_high,
        coalesce(published_robustness.similarity, robustness.similarity) as published_value,
        robustness.n_pairs as n_units,
        robustness.n_permutations,
        robustness.seed
    from robustness_comparisons
    inner join robustness
        on
            robustness_comparisons.run_id = robustness.run_id
            and robustness_comparisons.variant = robustness.variant
            and robustness_comparisons.scheme = robustness.scheme
            and robustness_comparisons.wording = robustness.wording
            and robustness_comparisons.domain = robustness.domain
    left join published_robustness
        on
            robustness_comparisons.run_id = published_robustness.run_id
            and robustness_comparisons.variant = published_robustness.variant
            and robustness_comparisons.wording = published_robustness.wording
            and robustness_comparisons.domain = published_robustness.domain
),

measured as (
    select * from spread_findings
    union all by name
    select * from personality_findings
    union all by name
    select * from robustness_findings
),

lists_findings as (
    select
        * exclude (standard_error)
        replace (
            -- A sentence says what it is about even where it stands alone.
            case
                when measure = 'robustness' then concat(subject, if(subject = '', '', ': '), detail)
                else concat(attribute, if(subject = '', '', ' (' || subject || ')'), ': ', detail)
            end as detail
        ),
        'subjects' as settled_by,
        {{ width_power("standard_error") }} as width_power
    from measured
)

select * from lists_findings
