{{ config(access="private") }}

with

contrasts as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        reference_group,
        is_crossed
    from {{ ref("int_contrasts") }}
    where
        comparison = 'against_reference'
        and not {{ is_unknown_group("group_name") }}
        and not {{ is_unknown_group("reference_group") }}
),

markers_prompts as (
    select distinct
        markers_prompts.run_id,
        markers_prompts.variant,
        markers_prompts.attribute,
        markers_prompts.group_name,
        texts.category
    from {{ ref("int_markers_prompts") }} as markers_prompts
    inner join {{ ref("int_markers_texts") }} as texts
        on
            markers_prompts.run_id = texts.run_id
            and markers_prompts.prompt_id = texts.prompt_id
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

run_readings as (
    select
        run_id,
        reading_hash
    from {{ ref("int_markers_runs") }}
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
        run_readings.reading_hash,
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
    inner join run_readings on regard_intervals.run_id = run_readings.run_id
    inner join scorer_labels
        on
            regard_intervals.run_id = scorer_labels.run_id
            and regard_intervals.scorer = scorer_labels.scorer
),

-- What was scored about both groups, whether or not any score could be used.
asked_regard as (
    select distinct
        contrasts.*,
        regard.category,
        regard.scorer
    from contrasts
    inner join regard
        on
            contrasts.run_id = regard.run_id
            and contrasts.variant = regard.variant
    inner join markers_prompts as marked
        on
            contrasts.run_id = marked.run_id
            and contrasts.variant = marked.variant
            and contrasts.attribute = marked.attribute
            and contrasts.group_name = marked.group_name
            and regard.category = marked.category
    inner join markers_prompts as reference
        on
            contrasts.run_id = reference.run_id
            and contrasts.variant = reference.variant
            and contrasts.attribute = reference.attribute
            and contrasts.reference_group = reference.group_name
            and regard.category = reference.category
),

regard_gap_findings as (
    select
        asked_regard.run_id,
        asked_regard.variant,
        'negative_regard_gap' as measure,
        asked_regard.scorer as scheme,
        asked_regard.attribute,
        asked_regard.group_name,
        asked_regard.reference_group,
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
        case
            when regard_gaps.gap is not null and regard_gaps.p_value is null
                then 'labels cannot be permuted, as no question was answered about both groups'
        end as detail_without_alarm,
        run_readings.reading_hash,
        regard_gaps.adjusted_gap as value,
        regard_gaps.p_value,
        regard_gaps.null_mean,
        regard_gaps.null_sd,
        regard_gaps.adjusted_low as interval_low,
        regard_gaps.adjusted_high as interval_high,
        regard_gaps.raw_gap as published_value,
        regard_gaps.width_unit as settled_by,
        regard_gaps.width_power,
        regard_gaps.n_units,
        coalesce(regard_gaps.n_permutations, 0) as n_permutations,
        regard_gaps.seed,
        asked_regard.is_crossed
    from asked_regard
    inner join run_readings on asked_regard.run_id = run_readings.run_id
    inner join scorer_labels
        on
            asked_regard.run_id = scorer_labels.run_id
            and asked_regard.scorer = scorer_labels.scorer
    left join regard_gaps
        on
            asked_regard.run_id = regard_gaps.run_id
            and asked_regard.variant = regard_gaps.variant
            and asked_regard.scorer = regard_gaps.scorer
            and asked_regard.category = regard_gaps.category
            and asked_regard.attribute = regard_gaps.attribute
            and asked_regard.group_name = regard_gaps.group_name
            and asked_regard.reference_group = regard_gaps.reference_group
),

findings as (
    select * from regard_findings
    union all by name
    select * from regard_gap_findings
)

select * from findings
