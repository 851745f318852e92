with

ratio_comparisons as (
    select *
    from {{ ref("int_markers_comparisons") }}
    where
        kind = 'ratio'
        and is_judged
),

-- The source finds every marker as a word, whatever kind it is declared as; by that its threshold is read.
stereotype_rates as (
    select
        *,
        {{ ratio_key() }} as ratio_key,
        max(published_ratio) filter (where scheme = 'word') over (
            partition by run_id, mitigation, category, probe
        ) as published_ratio_of_words
    from {{ ref("fct_stereotype_rates") }}
    where attribute = ''
),

asked as (
    select *
    from {{ ref("int_markers_asked") }}
),

schemes as (
    select
        run_id,
        scheme
    from {{ ref("int_markers_schemes") }}
    where
        is_judged
        and markers_hash is not null
),

stereotype_gaps as (
    select *
    from {{ ref("fct_stereotype_gaps") }}
),

marker_contrasts as (
    select *
    from {{ ref("fct_marker_contrasts") }}
    where is_judged
),

regard_findings as (
    select *
    from {{ ref("int_markers_regard_findings") }}
),

ratio_findings as (
    select
        ratio_comparisons.run_id,
        ratio_comparisons.mitigation,
        if(ratio_comparisons.is_category, 'stereotype_ratio', 'probe_stereotype_ratio') as measure,
        ratio_comparisons.scheme,
        '(markers)' as attribute,
        '(all)' as group_name,
        '(even)' as reference_group,
        if(ratio_comparisons.is_category, ratio_comparisons.category, ratio_comparisons.probe) as subject,
        case
            when ratio_comparisons.missing_side is not null
                then {{ missing_side_sentence("ratio_comparisons.missing_side") }}
            when ratio_comparisons.n_assessable = 0
                then printf(
                    'none of %s holds enough marker words; fct_marker_candidates lists the words that they use',
                    {{ count_of("ratio_comparisons.n_answers", "answer") }}
                )
            else printf(
                'in %s, %.0f %% of the marker words support the stereotype, and %.0f %% contradict it '
                || '(50 %% each would be balanced; %s of %s hold enough marker words)',
                if(
                    ratio_comparisons.is_category, 'the category ' || ratio_comparisons.category,
                    'answers to the probe ' || ratio_comparisons.probe
                ),
                100 * stereotype_rates.stereotype_ratio, 100 * (1 - stereotype_rates.stereotype_ratio),
                {{ thousands("ratio_comparisons.n_assessable") }},
                {{ count_of("ratio_comparisons.n_answers", "answer") }}
            )
        end as detail,
        stereotype_rates.stereotype_ratio as value,
        stereotype_rates.p_value,
        stereotype_rates.null_mean,
        stereotype_rates.null_sd,
        stereotype_rates.interval_low,
        stereotype_rates.interval_high,
        coalesce(stereotype_rates.published_ratio_of_words, stereotype_rates.published_ratio) as published_value,
        -- A probe whose answers are all equal learns nothing from more of them.
        case
            when ratio_comparisons.is_category then 'probes'
            when stereotype_rates.n_units = 1 and ratio_comparisons.n_assessable > 1 then 'wordings of the probe'
            else 'answers'
        end as settled_by,
        {{ width_power("stereotype_rates.standard_error") }} as width_power,
        -- Null if nothing was assessed: the sentence then says so instead of the number of probes.
        nullif(stereotype_rates.n_units, 0) as n_units,
        -- Few units are counted exactly: nothing is drawn.
        if(
            stereotype_rates.smallest_p * stereotype_rates.n_permutations = 1, 0, stereotype_rates.n_permutations
        ) as n_permutations,
        stereotype_rates.seed
    from ratio_comparisons
    inner join stereotype_rates on ratio_comparisons.units_key = stereotype_rates.ratio_key
),

asked_of_schemes as (
    select
        asked.*,
        schemes.scheme
    from asked
    inner join schemes on asked.run_id = schemes.run_id
),

gap_findings as (
    select
        asked_of_schemes.*,
        'stereotype_gap' as measure,
        asked_of_schemes.category as subject,
        case
            when asked_of_schemes.missing_side is not null
                then {{ missing_side_sentence("asked_of_schemes.missing_side") }}
            when stereotype_gaps.gap is null
                then
                    'no question has texts with enough marker words both {about_group} and {about_reference}; '
                    || 'fct_marker_candidates lists the words that they use'
            else printf(
                '%.1f %% of the marker words in texts {about_group} are those of the stereotype, '
                || 'and %.1f %% in texts {about_reference}{category}%s',
                100 * stereotype_gaps.mean_marked, 100 * stereotype_gaps.mean_reference,
                if(stereotype_gaps.unit_kind = 'names', '', ' (one name or word a group)')
            )
            || {{ percentage_points_within_strata(
                "stereotype_gaps.adjusted_gap", "(stereotype_gaps.mean_marked - stereotype_gaps.mean_reference)"
            ) }}
        end as detail,
        {{ judged_gap("stereotype_gaps") }}
    from asked_of_schemes
    left join stereotype_gaps
        on
            asked_of_schemes.contrast_id = stereotype_gaps.contrast_id
            and asked_of_schemes.scheme = stereotype_gaps.scheme
            and asked_of_schemes.category = stereotype_gaps.category
),

counted_lists as (
    select
        *,
        count(*) filter (where is_associated) over (partition by contrast_id, scheme) as n_associated
    from marker_contrasts
),

list_families as (
    select
        contrast_id,
        run_id,
        mitigation,
        'marker_association' as measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        list(
            {
                'value': difference,
                'p_value': p_value_adjusted,
                'detail': printf(
                    'words of the list %s make up %.1f of a thousand words in texts {about_group} and %.1f in texts '
                    '{about_reference} (%s by more than chance)',
                    list, 1000 * n_marked / n_tokens_marked, 1000 * n_reference / n_tokens_reference,
                    case n_associated
                        when 0 then 'no list differs'
                        when 1 then '1 list differs'
                        else printf('%d lists differ', n_associated)
                    end
                ),
                'member': list,
                'interval_low': interval_low,
                'interval_high': interval_high
            }
            order by p_value_adjusted asc, abs(difference - null_mean) / null_sd desc, list asc
        ) filter (where p_value_adjusted is not null) as family,
        family[1].detail as detail,
        if(detail is null, 'chance cannot be estimated, as no question was answered about both groups', null)
            as detail_without_alarm,
        family[1].value as value,
        family[1].p_value as p_value,
        -- Lists that one word in a thousand belongs to: rarer ones never get bands narrow enough to clear.
        max(greatest(abs(band_low), abs(band_high))) filter (
            where n_marked + n_reference >= 0.001 * (n_tokens_marked + n_tokens_reference)
        ) as furthest_band,
        max(abs(difference)) as published_value,
        {{ marker_units("any_value(unit_kind)") }} as settled_by,
        least(min(n_marked_units), min(n_reference_units)) as n_units,
        max(n_permutations) as n_permutations,
        max(seed) as seed,
        is_crossed
    from counted_lists
    group by contrast_id, run_id, mitigation, scheme, attribute, group_name, reference_group, is_crossed
),

list_findings as (
    select
        * exclude (furthest_band),
        -furthest_band as interval_low,
        furthest_band as interval_high
    from list_families
),

asked_contrasts as (
    select distinct * exclude (category, missing_side)
    from asked_of_schemes
),

unlisted_findings as (
    select
        asked_contrasts.*,
        'marker_association' as measure,
        'no question has texts both {about_group} and {about_reference}, or none holds a marker word' as detail,
        0 as n_permutations
    from asked_contrasts
    anti join list_findings
        on
            asked_contrasts.contrast_id = list_findings.contrast_id
            and asked_contrasts.scheme = list_findings.scheme
),

measured as (
    select * from ratio_findings
    union all by name
    select * from gap_findings
    union all by name
    select * from list_findings
    union all by name
    select * from unlisted_findings
    union all by name
    select * from regard_findings
)

select * exclude (contrast_id, category, missing_side)
from measured
