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
        detail as detail_without_alarm,
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
        detail as detail_without_alarm,
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
        detail as detail_without_alarm,
        robustness_comparisons.reading_hash,
        robustness.similarity as value,
        robustness.p_value,
        robustness.rerun_similarity as null_mean,
        cast(null as double) as null_sd,
        robustness.standard_error,
        robustness.interval_low,
        robustness.interval_high,
        coalesce(published_robustness.similarity, robustness.similarity) as published_value,
        robustness.n_pairs as n_units,
        robustness.n_permutations,
        robustness.seed,
        false as is_crossed
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
        run_id,
        variant,
        measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        subject,
        -- A sentence says what it is about even where it stands alone.
        case
            when measure = 'robustness' then concat(subject, if(subject = '', '', ': '), detail)
            else concat(
                attribute, if(subject = '', '', ' (' || subject || ')'), ': ', detail,
                printf('; %.3f beyond chance', round(beyond_chance, 3) + 0)
            )
        end as detail,
        case
            when measure = 'robustness' then concat(subject, if(subject = '', '', ': '), detail_without_alarm)
            else concat(
                attribute, if(subject = '', '', ' (' || subject || ')'), ': ', detail_without_alarm,
                printf('; %.3f beyond chance', round(beyond_chance, 3) + 0)
            )
        end as detail_without_alarm,
        reading_hash,
        {{ double_or_null("value") }} as value,
        {{ double_or_null("p_value") }} as p_value,
        {{ double_or_null("null_mean") }} as null_mean,
        {{ double_or_null("null_sd") }} as null_sd,
        {{ double_or_null("standard_error") }} as standard_error,
        {{ double_or_null("interval_low") }} as interval_low,
        {{ double_or_null("interval_high") }} as interval_high,
        {{ double_or_null("value") }} as centre,
        -- The arm that decides whether a finding clears.
        case
            when measure in ('robustness', 'personality_fairness') then {{ double_or_null("value - interval_low") }}
            else {{ double_or_null("interval_high - value") }}
        end as half_width,
        {{ double_or_null("published_value") }} as published_value,
        n_units,
        'subjects' as settled_by,
        {{ width_power("standard_error") }} as width_power,
        n_permutations,
        seed,
        is_crossed
    from measured
)

select * from lists_findings
