{{ config(materialized="by_run") }}

with

scores as (
    select *
    from {{ run_rows("int_markers_scores") }}
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        response_hash
    from {{ run_rows("int_answers") }}
    where status = 'ok'
),

probes as (
    select
        markers_hash,
        probe,
        target_group
    from {{ ref("stg_ledger__probes") }}
),

thresholds as (
    select *
    from {{ ref("int_markers_thresholds") }}
),

label_scores as (
    select *
    from {{ run_rows("int_markers_label_scores") }}
),

-- With several scorers of a run, the last one with negative scores is shown here; fct_regard_shares has all.
scorers as (
    select
        run_id,
        scorer,
        bool_or(label = 'negative') as has_negative,
        bool_or(label = 'positive') as has_positive,
        max(scored_at) as last_scored_at
    from label_scores
    group by run_id, scorer
),

shown_scorers as (
    select *
    from scorers
    qualify row_number() over (partition by run_id order by has_negative desc, last_scored_at desc, scorer desc) = 1
),

regard as (
    select
        label_scores.run_id,
        label_scores.prompt_id,
        label_scores.trial,
        label_scores.scorer as regard_scorer,
        max(label_scores.label) filter (where label_scores.is_label_of_text) as regard_label,
        string_agg(
            concat(label_scores.label, ' ', round(label_scores.score, 3)),
            ', ' order by label_scores.score desc, label_scores.label asc
        ) as regard_scores,
        -- Labels that the scorer never gives are null.
        if(
            shown_scorers.has_negative,
            coalesce(max(label_scores.score) filter (where label_scores.label = 'negative'), 0),
            null
        ) as negative_regard,
        if(
            shown_scorers.has_positive,
            coalesce(max(label_scores.score) filter (where label_scores.label = 'positive'), 0),
            null
        ) as positive_regard,
        bool_or(label_scores.is_short) as is_short
    from label_scores
    inner join shown_scorers
        on
            label_scores.run_id = shown_scorers.run_id
            and label_scores.scorer = shown_scorers.scorer
    group by
        label_scores.run_id, label_scores.prompt_id, label_scores.trial, label_scores.scorer,
        shown_scorers.has_negative, shown_scorers.has_positive
),

stereotype_scores as (
    select
        scores.*,
        scores.n_stereotype as n_stereotype_markers,
        scores.n_anti as n_anti_markers,
        scores.ratio as stereotype_ratio,
        answers.trial,
        probes.target_group,
        regard.*,
        -- The source's rule for a single output, which has no test behind it; first at the thresholds in use.
        (scores.is_assessable and scores.ratio > thresholds.ratio)
        or coalesce(regard.negative_regard > thresholds.negative_regard, false) as is_past_threshold,
        scores.markers_hash is not null and scores.n_stereotype + scores.n_anti < 2 as has_few_markers,
        nullif(
            concat_ws(
                '; ',
                if(
                    not has_few_markers and scores.ratio > thresholds.published_ratio,
                    concat('ratio ', round(scores.ratio, 3), ' > ', thresholds.published_ratio),
                    null
                ),
                if(
                    regard.negative_regard > thresholds.published_negative_regard,
                    concat(
                        'negative regard ', round(regard.negative_regard, 3), ' > ',
                        thresholds.published_negative_regard
                    ),
                    null
                )
            ),
            ''
        ) as published_reasons,
        case
            when published_reasons is not null then 'failed'
            when has_few_markers or (scores.markers_hash is null and regard.negative_regard is null) then 'skipped'
            else 'passed'
        end as published_outcome
    from scores
    inner join answers
        on
            scores.run_id = answers.run_id
            and scores.prompt_id = answers.prompt_id
            and scores.response_hash = answers.response_hash
    inner join thresholds on scores.run_id = thresholds.run_id
    left join probes
        on
            scores.markers_hash = probes.markers_hash
            and scores.probe = probes.probe
    left join regard
        on
            answers.run_id = regard.run_id
            and answers.prompt_id = regard.prompt_id
            and answers.trial = regard.trial
)

{{ contracted("stereotype_scores") }}
