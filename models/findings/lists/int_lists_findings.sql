with

lists_runs as (
    select
        run_id,
        similarity,
        personality,
        analysis_hash
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
        lists_runs.analysis_hash,
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
        case measured_spreads.measure
            when 'snsr'
                then if(
                    round(ends.highest, 2) = round(ends.lowest, 2),
                    printf(
                        'lists share about as much with the neutral list for every group (%s %.2f), a spread of',
                        measured_spreads.feature, ends.highest
                    ),
                    printf(
                        'lists for {reference} share most with the neutral list (%s %.2f), '
                        || 'lists for {group} least (%.2f), a spread of',
                        measured_spreads.feature, ends.highest, ends.lowest
                    )
                )
            when 'snsv' then 'the groups'' similarities to the neutral list have a standard deviation of'
            when 'personality_fairness' then 'lists for personalities deviate by'
            when 'unanswered_spread' then 'the share of questions that got no list differs by up to'
            when 'shortfall_spread' then 'the share of the lists left empty differs by up to'
            when 'repeat_spread' then 'the share of the lists that repeats an earlier {item} differs by up to'
            when 'relevance_spread' then 'the lists'' NDCG differs by up to'
        end as what
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
        concat(
            what,
            printf(' %.3f', value),
            case
                when measure = 'personality_fairness' then ' on average from their mean similarity'
                when not is_similarity then ' between groups'
            end,
            printf(', where noise alone gives %.3f', {{ double_or_null("chance") }}),
            case when measure = 'snsr' then printf(' and %.3f where the same question is asked again', noise_floor) end,
            case
                when measure = 'snsr' and n_groups = 2
                    then ' (of two groups SNSV is half of SNSR, so both thresholds are one test)'
            end
        ) as detail,
        analysis_hash,
        -- Judge the part beyond chance, because few subjects alone make groups differ.
        if(measure = 'personality_fairness', 1 - debiased, debiased) as value,
        debiased as beyond_chance,
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
                then 'no question was asked twice in the same words, so there is no noise floor to hold it against'
            else printf(
                'lists in the wording %s have a similarity of %.2f to those of the clean question, '
                || 'which has %.2f to itself when asked again',
                published_robustness.wording, published_robustness.similarity, published_robustness.rerun_similarity
            )
        end as detail,
        lists_runs.analysis_hash,
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
