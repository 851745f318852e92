with

markers_runs as (
    select
        run_id,
        run_state
    from {{ ref("int_markers_runs") }}
),

scores as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of([
            "prompt_id", "trial", "attempt", "scorer", "label", "score", "is_short", "scored_at",
        ]) }} as fingerprint
    from {{ ref("stg_ledger__response_scores") }}
    group by run_id
),

labels as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of(["prompt_id", "trial", "labelled_by", "label", "is_drawn"]) }} as fingerprint
    from {{ ref("int_answers_labels") }}
    group by run_id
),

thresholds as (
    select *
    from {{ ref("int_markers_thresholds") }}
),

scored_runs as (
    select
        markers_runs.run_id,
        {{ integer_key_of([
            "markers_runs.run_state", "scores.n", "scores.fingerprint", "labels.n", "labels.fingerprint",
            "thresholds.ratio", "thresholds.published_ratio", "thresholds.negative_regard",
            "thresholds.published_negative_regard",
        ]) }} as scores_state
    from markers_runs
    left join scores on markers_runs.run_id = scores.run_id
    left join labels on markers_runs.run_id = labels.run_id
    left join thresholds on markers_runs.run_id = thresholds.run_id
)

select * from scored_runs
