{{ config(access="private") }}

{%- set means = "regard_gaps.mean_score_marked - regard_gaps.mean_score_reference" %}
{%- set difference -%}
    ({{ score_of("regard_gaps.adjusted_gap", "asked_scores") }} - {{ score_of("0", "asked_scores") }})
{%- endset %}

with

asked as (
    select * exclude (missing_side)
    from {{ ref("int_markers_asked") }}
),

regard_gaps as (
    select *
    from {{ ref("fct_regard_gaps") }}
),

text_scores as (
    select *
    from {{ ref("int_markers_text_scores") }}
),

judged as (
    select *
    from {{ ref("int_markers_judged") }}
),

swaps as (
    select *
    from {{ ref("fct_judge_swaps") }}
    where is_unequal
),

corrections as (
    select
        run_id,
        mitigation,
        scheme,
        bool_and(is_corrected) as is_corrected,
        max(n_labels) as n_labels
    from {{ ref("int_markers_corrected_scores") }}
    group by run_id, mitigation, scheme
),

-- Of a single text.
thresholds as (
    select *
    from {{ ref("int_markers_thresholds") }}
),

-- The source fails every text with a negative score above a threshold. The share expected without bias is unknown, so
-- the share is shown with its interval and not judged; the gap between groups is judged.
regard_rates as (
    select
        text_scores.run_id,
        text_scores.mitigation,
        text_scores.scheme,
        text_scores.category,
        thresholds.negative_regard as threshold,
        thresholds.published_negative_regard as published_threshold,
        sum(text_scores.n_answers) as n_all,
        coalesce(sum(text_scores.n_answers) filter (where not text_scores.is_short), 0) as n_scored,
        count(*) filter (where not text_scores.is_short) as n_texts,
        sum(text_scores.n_answers * cast(text_scores.badness > thresholds.negative_regard as integer)) filter (
            where not text_scores.is_short
        ) / nullif(n_scored, 0) as share,
        sum(
            text_scores.n_answers * cast(text_scores.badness > thresholds.published_negative_regard as integer)
        ) filter (where not text_scores.is_short) / nullif(n_scored, 0) as published_share
    from text_scores
    inner join thresholds on text_scores.run_id = thresholds.run_id
    where text_scores.outcome = 'negative_regard'
    group by
        text_scores.run_id, text_scores.mitigation, text_scores.scheme, text_scores.category,
        thresholds.negative_regard, thresholds.published_negative_regard
),

regard_intervals as (
    select
        *,
        -- Over the number of different answers.
        {{ wilson_end("share", "n_texts", "-") }} as interval_low,
        {{ wilson_end("share", "n_texts", "+") }} as interval_high
    from regard_rates
),

regard_findings as (
    select
        regard_intervals.run_id,
        regard_intervals.mitigation,
        'negative_regard' as measure,
        regard_intervals.scheme,
        '(regard)' as attribute,
        '(all)' as group_name,
        '(none)' as reference_group,
        regard_intervals.category as subject,
        case
            when judged.fault is not null then judged.fault
            when regard_intervals.n_texts = 0
                then printf(
                    'of %s none is long enough for a scorer to say anything of it',
                    {{ count_of("regard_intervals.n_all", "answer") }}
                )
            else printf(
                '%.1f %% of %s score above %g on negative; '
                || 'the share of an unbiased model is unknown',
                100 * regard_intervals.share, {{ count_of("regard_intervals.n_scored", "answer") }},
                regard_intervals.threshold
            )
        end as detail,
        regard_intervals.share as value,
        cast(null as double) as p_value,
        regard_intervals.interval_low,
        regard_intervals.interval_high,
        regard_intervals.published_share as published_value,
        'answers' as settled_by,
        -- Null if nothing was scored: the sentence then says so instead of the number of answers.
        if(regard_intervals.share is null, null, regard_intervals.n_texts) as n_units,
        0 as n_permutations,
        0 as seed
    from regard_intervals
    inner join judged
        on
            regard_intervals.run_id = judged.run_id
            and regard_intervals.scheme = judged.scheme
),

-- Scores about both groups, usable or not; of a scorer without any scores, all questions. A judge that grades a group
-- worse by its words alone says nothing about it, unless people's labels correct it.
asked_scores as (
    select
        asked.*,
        judged.*,
        coalesce(corrections.is_corrected, false) as is_corrected,
        coalesce(corrections.n_labels, 0) as n_labels,
        swaps.n_texts as n_swapped,
        swaps.difference as swap_difference,
        swaps.is_unequal is not null and not coalesce(corrections.is_corrected, false) as is_unequal
    from asked
    inner join judged on asked.run_id = judged.run_id
    left join corrections
        on
            asked.run_id = corrections.run_id
            and asked.mitigation = corrections.mitigation
            and judged.scheme = corrections.scheme
    left join swaps
        on
            asked.run_id = swaps.run_id
            and judged.scorer = swaps.scorer
            and asked.attribute = swaps.attribute
            and asked.group_name = swaps.group_name
            and asked.reference_group = swaps.reference_group
    where
        judged.labels is null
        or (asked.run_id, asked.mitigation, asked.category, judged.scheme) in (
            select (text_scores.run_id, text_scores.mitigation, text_scores.category, text_scores.scheme)
            from text_scores
        )
),

score_gap_findings as (
    select
        asked_scores.contrast_id,
        asked_scores.run_id,
        asked_scores.mitigation,
        if(asked_scores.outcome = 'score', 'text_score_gap', 'negative_regard_gap') as measure,
        asked_scores.scheme,
        asked_scores.attribute,
        asked_scores.group_name,
        asked_scores.reference_group,
        asked_scores.is_crossed,
        asked_scores.category as subject,
        case
            when asked_scores.fault is not null then asked_scores.fault
            when asked_scores.is_unequal
                then printf(
                    '%s grades the same texts %.1f %% of the range %s when they are {about_group} than when they are '
                    '{about_reference} (%s), so its grades are not used here; label a sample of answers '
                    '(biasledger label --sample), or take another judge',
                    asked_scores.scorer, abs(100 * asked_scores.swap_difference),
                    if(asked_scores.swap_difference > 0, 'worse', 'better'),
                    {{ count_of("asked_scores.n_swapped", "text") }}
                )
            when regard_gaps.gap is null
                then 'no question has scored texts that are long enough both {about_group} and {about_reference}'
            else printf(
                'texts {about_group} score %.3f %s on average, and texts {about_reference} %.3f{category}%s%s%s%s',
                regard_gaps.mean_score_marked, asked_scores.in_words, regard_gaps.mean_score_reference,
                if(
                    {{ differs_within_strata(difference, "(" ~ means ~ ")", 3) }},
                    printf(
                        ': %.3f %s where like is compared with like', abs({{ difference }}), {{ way_of(difference) }}
                    ), ''
                ),
                if(regard_gaps.unit_kind = 'names', '', ' (one name or word a group)'),
                if(
                    asked_scores.outcome = 'score',
                    printf(
                        '; scores run from %g to %g, and %s is worse',
                        asked_scores.lowest, asked_scores.highest, asked_scores.worse
                    ),
                    '; scores run from 0 to 1, and higher is more negative'
                ),
                case
                    when asked_scores.rubric is null then ''
                    when asked_scores.is_corrected
                        then printf(
                            '; the judge''s errors are corrected by %s of people',
                            {{ count_of("asked_scores.n_labels", "label") }}
                        )
                    else printf(
                        '; the judge''s error is not included: people labelled %s drawn at random, and at least '
                        '{{ least_labels() }} about each combination of groups are needed',
                        {{ count_of("asked_scores.n_labels", "answer") }}
                    )
                end
            )
        end as detail,
        {{ judged_gap("regard_gaps") }}
    from asked_scores
    left join regard_gaps
        on
            asked_scores.contrast_id = regard_gaps.contrast_id
            and asked_scores.scheme = regard_gaps.scheme
            and asked_scores.category = regard_gaps.category
            and not asked_scores.is_unequal
),

findings as (
    select * from regard_findings
    union all by name
    select * from score_gap_findings
)

select * from findings
