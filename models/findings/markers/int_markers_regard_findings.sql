{{ config(access="private") }}

with

asked as (
    select * exclude (missing_side)
    from {{ ref("int_markers_asked") }}
),

regard_gaps as (
    select *
    from {{ ref("fct_regard_gaps") }}
),

regard as (
    select *
    from {{ ref("int_markers_regard") }}
),

-- Of a single text.
thresholds as (
    select *
    from {{ ref("int_markers_thresholds") }}
),

-- What a scorer says in a run, for the sentence where that is never negative.
scorer_labels as (
    select
        run_id,
        scorer,
        string_agg(distinct label, ', ' order by label) as labels,
        bool_or(label = 'negative') as has_negative
    from {{ ref("int_markers_label_scores") }}
    group by run_id, scorer
),

-- The source fails every text whose negative score lies above a threshold. How many such texts there would be without
-- bias nobody knows, so that the share is shown with its interval and not judged; the gap between groups is.
regard_rates as (
    select
        regard.run_id,
        regard.variant,
        regard.scorer,
        regard.category,
        thresholds.negative_regard as threshold,
        sum(regard.n_answers) as n_all,
        coalesce(sum(regard.n_answers) filter (where not regard.is_short), 0) as n_scored,
        count(*) filter (where not regard.is_short) as n_texts,
        sum(regard.n_answers * cast(regard.negative > threshold as integer)) filter (where not regard.is_short)
        / nullif(n_scored, 0) as share,
        sum(regard.n_answers * cast(regard.negative > thresholds.published_negative_regard as integer)) filter (
            where not regard.is_short
        ) / nullif(n_scored, 0) as published_share
    from regard
    inner join thresholds on regard.run_id = thresholds.run_id
    group by
        regard.run_id, regard.variant, regard.scorer, regard.category, thresholds.negative_regard
),

regard_intervals as (
    select
        *,
        -- Wilson's interval, of so many answers as are different.
        (share + pow(1.959964, 2) / (2 * n_texts)) / (1 + pow(1.959964, 2) / n_texts) as middle,
        1.959964 * sqrt(share * (1 - share) / n_texts + pow(1.959964 / (2 * n_texts), 2))
        / (1 + pow(1.959964, 2) / n_texts) as arm
    from regard_rates
),

regard_findings as (
    select
        regard_intervals.run_id,
        regard_intervals.variant,
        'negative_regard' as measure,
        regard_intervals.scorer as scheme,
        '(regard)' as attribute,
        '(all)' as group_name,
        '(none)' as reference_group,
        regard_intervals.category as subject,
        case
            when not scorer_labels.has_negative
                then {{ no_negative_label("scorer_labels") }}
            when regard_intervals.n_texts = 0
                then printf(
                    'all %d answers are too short for a scorer to say anything of them',
                    cast(regard_intervals.n_all as bigint)
                )
            else printf(
                '%.1f %% of %d answers score above %g on negative; '
                || 'a share of all texts has nothing to be compared with',
                100 * regard_intervals.share, cast(regard_intervals.n_scored as bigint),
                regard_intervals.threshold
            )
        end as detail,
        regard_intervals.share as value,
        cast(null as double) as p_value,
        regard_intervals.middle - regard_intervals.arm as interval_low,
        regard_intervals.middle + regard_intervals.arm as interval_high,
        regard_intervals.published_share as published_value,
        'answers' as settled_by,
        -- Where nothing was scored the sentence says so, not how many answers were.
        if(regard_intervals.share is null, null, regard_intervals.n_texts) as n_units,
        0 as n_permutations,
        0 as seed
    from regard_intervals
    inner join scorer_labels
        on
            regard_intervals.run_id = scorer_labels.run_id
            and regard_intervals.scorer = scorer_labels.scorer
),

-- What was scored about both groups, whether or not any score could be used.
asked_regard as (
    select distinct
        asked.*,
        regard.scorer
    from asked
    inner join regard
        on
            asked.run_id = regard.run_id
            and asked.variant = regard.variant
            and asked.category = regard.category
),

regard_gap_findings as (
    select
        asked_regard.* exclude (category, scorer),
        'negative_regard_gap' as measure,
        asked_regard.scorer as scheme,
        asked_regard.category as subject,
        case
            when not scorer_labels.has_negative
                then {{ no_negative_label("scorer_labels") }}
            when regard_gaps.gap is null
                then printf(
                    'no question has scored texts that are long enough both about %s and about %s',
                    asked_regard.group_name, asked_regard.reference_group
                )
            else printf(
                'texts about %s score %.3f on negative and about %s %.3f on average%s',
                asked_regard.group_name, regard_gaps.mean_marked,
                asked_regard.reference_group, regard_gaps.mean_reference,
                if(regard_gaps.unit_kind = 'names', '', ' (one name or word a group)')
            )
        end as detail,
        {{ judged_gap("regard_gaps") }}
    from asked_regard
    inner join scorer_labels
        on
            asked_regard.run_id = scorer_labels.run_id
            and asked_regard.scorer = scorer_labels.scorer
    left join regard_gaps
        on
            asked_regard.contrast_id = regard_gaps.contrast_id
            and asked_regard.scorer = regard_gaps.scorer
            and asked_regard.category = regard_gaps.category
),

findings as (
    select * from regard_findings
    union all by name
    select * from regard_gap_findings
)

select * from findings
