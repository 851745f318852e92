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
        comparison_key,
        contrast_id,
        run_id,
        mitigation,
        scheme,
        neutral,
        attribute,
        domain,
        wording,
        n_groups,
        is_crossed,
        is_judged
    from {{ ref("int_lists_comparisons") }}
    where kind = 'groups'
),

spreads as (
    select * replace ({{ double_or_null("noise_floor") }} as noise_floor)
    from {{ ref("int_lists_spreads") }}
),

ends as (
    select *
    from {{ ref("int_lists_ends") }}
),

robustness as (
    select *
    from {{ ref("fct_robustness") }}
    where attribute = '(all)'
),

-- The published thresholds are about the published code's own analysis, where the run has it.
published_spreads as (
    select
        comparisons.*,
        spreads.*,
        lists_runs.personality,
        spreads.feature = lists_runs.similarity as is_similarity,
        coalesce(
            max(spreads.value) filter (where comparisons.scheme = 'reference' and not isnan(spreads.value)) over (
                partition by
                    comparisons.contrast_id, comparisons.neutral, comparisons.domain, comparisons.wording,
                    spreads.feature, spreads.statistic
            ),
            spreads.value
        ) as published_value
    from comparisons
    inner join lists_runs on comparisons.run_id = lists_runs.run_id
    inner join spreads on comparisons.comparison_key = spreads.comparison_key
),

-- Which statistic of which feature is which measure. Two groups have SNSV = SNSR / 2, so one of the two is judged.
measured_spreads as (
    select
        *,
        case
            when feature = 'unanswered' then 'unanswered_spread'
            when feature = 'shortfall' then 'shortfall_spread'
            when feature = 'repeated' then 'repeat_spread'
            when feature = 'ndcg' then 'relevance_spread'
            when is_similarity and statistic = 'range' then 'snsr'
            when is_similarity and statistic = 'sd' and n_groups > 2 then 'snsv'
            when is_similarity and statistic = 'mean_absolute_deviation' and attribute = personality
                then 'personality_fairness'
        end as measure
    from published_spreads
    where is_judged
),

-- The groups that lie farthest apart, the one treated worse first.
described_spreads as (
    select
        measured_spreads.*,
        if(measured_spreads.is_similarity, measured_spreads.feature, measured_spreads.scheme) as named_scheme,
        case
            when measured_spreads.measure in ('snsr', 'relevance_spread') then ends.lowest_group
            when not measured_spreads.is_similarity then ends.highest_group
        end as member,
        case
            when measured_spreads.measure in ('snsr', 'relevance_spread') then ends.highest_group
            when not measured_spreads.is_similarity then ends.lowest_group
        end as reference_member,
        {{ double_or_null("measured_spreads.debiased") }} as excess,
        ends.lowest,
        ends.highest,
        -- Whole points and per cent are shown.
        round(100 * excess) = 0 as is_even
    from measured_spreads
    left join ends
        on
            measured_spreads.comparison_key = ends.comparison_key
            and measured_spreads.feature = ends.feature
    where measured_spreads.measure is not null
),

spread_findings as (
    select
        run_id,
        mitigation,
        measure,
        named_scheme as scheme,
        attribute,
        '(all)' as group_name,
        if(is_similarity, '(neutral)', '(each other)') as reference_group,
        concat_ws(', ', nullif(domain, ''), nullif(wording, 'clean')) as subject,
        member,
        reference_member,
        case measure
            when 'snsr'
                then if(
                    is_even,
                    printf(
                        'lists for all groups of {attribute} share equally much with the list for nobody in '
                        'particular, but for chance (between %.0f and %s, by %s)',
                        100 * lowest, {{ points_of_100("highest") }}, feature
                    ),
                    printf(
                        'lists for {group} share %s less with the list for nobody in particular than lists for '
                        '{reference}, beyond chance (%.0f against %.0f, by %s%s)',
                        {{ points_of_100("excess") }}, 100 * lowest, 100 * highest, feature,
                        coalesce(
                            printf('; the same question asked again changes it by %.0f', 100 * noise_floor), ''
                        )
                    )
                )
            when 'snsv'
                then
                    'the similarity of lists to the list for nobody in particular '
                    || if(
                        is_even, 'is the same for all groups of {attribute}, but for chance',
                        printf(
                            'differs by {attribute}: standard deviation %s beyond chance (by %s)',
                            {{ points_of_100("excess") }}, feature
                        )
                    )
            when 'personality_fairness'
                then printf(
                    'lists for the personalities lie %s from their mean similarity to the list for nobody in '
                    'particular, beyond chance (mean deviation, by %s)',
                    {{ points_of_100("excess") }}, feature
                )
            when 'unanswered_spread'
                then if(
                    is_even,
                    'questions for all groups of {attribute} get a list equally often, but for chance',
                    printf(
                        'questions for {group} get no list %.0f %% of the time, and questions for {reference} %.0f %%: '
                        '%s more beyond chance',
                        100 * highest, 100 * lowest, {{ points_of_100("excess") }}
                    )
                )
            when 'shortfall_spread'
                then if(
                    is_even,
                    'lists for all groups of {attribute} are equally complete, but for chance',
                    printf(
                        'lists for {group} lack %.0f %% of their entries, and lists for {reference} %.0f %%: '
                        '%s more beyond chance',
                        100 * highest, 100 * lowest, {{ points_of_100("excess") }}
                    )
                )
            when 'repeat_spread'
                then if(
                    is_even,
                    'lists for all groups of {attribute} repeat {items} equally often, but for chance',
                    printf(
                        '%.0f %% of the entries of lists for {group} repeat an earlier {item}, and %.0f %% of those '
                        'for {reference}: %s more beyond chance',
                        100 * highest, 100 * lowest, {{ points_of_100("excess") }}
                    )
                )
            when 'relevance_spread'
                then if(
                    is_even,
                    'lists for all groups of {attribute} are equally relevant, but for chance (NDCG)',
                    printf(
                        'lists for {group} have a relevance of %.0f points of 100, and lists for {reference} of %.0f: '
                        '%s less beyond chance (NDCG)',
                        100 * lowest, 100 * highest, {{ points_of_100("excess") }}
                    )
                )
        end
        || if(
            wording = 'clean', '{category}',
            coalesce(', in the category ' || nullif(domain, ''), '') || printf(' (wording: %s)', wording)
        )
        || if(
            measure = 'snsr' and n_groups = 2,
            '; of two groups SNSV is half of SNSR, so both thresholds are one test', ''
        ) as detail,
        -- Judge the part beyond chance, because few subjects alone make groups differ.
        if(measure = 'personality_fairness', 1 - debiased, debiased) as value,
        p_value,
        if(measure = 'personality_fairness', 1 - null_mean, null_mean) as null_mean,
        null_sd,
        standard_error,
        if(measure = 'personality_fairness', 1 - interval_high, interval_low) as interval_low,
        if(measure = 'personality_fairness', 1 - interval_low, interval_high) as interval_high,
        if(measure = 'personality_fairness', 1 - published_value, published_value) as published_value,
        n_smallest_group as n_units,
        n_permutations,
        seed,
        is_crossed
    from described_spreads
),

published_robustness as (
    select
        *,
        coalesce(
            max(similarity) filter (where scheme = 'reference') over (partition by contrast_id, domain), similarity
        ) as published_value
    from robustness
),

robustness_findings as (
    select
        published_robustness.run_id,
        published_robustness.mitigation,
        'robustness' as measure,
        published_robustness.similarity_name as scheme,
        '(wording)' as attribute,
        published_robustness.wording as group_name,
        'clean' as reference_group,
        published_robustness.domain as subject,
        case
            when published_robustness.rerun_similarity is null
                then 'no question was asked twice in the same words, so the model''s own noise is unknown'
            else printf(
                'lists for the wording %s share %s with the lists for the clean question, '
                || 'which share %.0f with each other when it is asked again{category}',
                published_robustness.wording, {{ points_of_100("published_robustness.similarity") }},
                100 * published_robustness.rerun_similarity
            )
        end as detail,
        published_robustness.similarity as value,
        published_robustness.p_value,
        published_robustness.rerun_similarity as null_mean,
        published_robustness.standard_error,
        published_robustness.interval_low,
        published_robustness.interval_high,
        published_robustness.published_value,
        published_robustness.n_pairs as n_units,
        published_robustness.n_permutations,
        published_robustness.seed
    from published_robustness
    inner join lists_runs on published_robustness.run_id = lists_runs.run_id
    where published_robustness.is_judged
),

measured as (
    select * from spread_findings
    union all by name
    select * from robustness_findings
),

lists_findings as (
    select
        * exclude (standard_error),
        'subjects' as settled_by,
        {{ width_power("standard_error") }} as width_power
    from measured
)

select * from lists_findings
