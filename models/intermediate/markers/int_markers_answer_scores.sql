{{ config(materialized="by_run") }}

with

label_scores as (
    select *
    from {{ run_rows("int_markers_label_scores") }}
),

judged as (
    select *
    from {{ ref("int_markers_judged") }}
),

scores as (
    select
        label_scores.run_id,
        label_scores.prompt_id,
        label_scores.trial,
        label_scores.response_hash,
        label_scores.mitigation,
        label_scores.category,
        label_scores.has_varied_answers,
        judged.scheme,
        judged.outcome,
        judged.scorer,
        judged.label,
        judged.worse,
        judged.lowest,
        judged.highest,
        if(
            judged.fault is null,
            coalesce(
                max({{ judged_score("judged", "label_scores") }}),
                -- From 0 to 1 it is the label's share of an answer: a scorer that names other labels alone gives it 0.
                if(judged.lowest = 0 and judged.highest = 1 and not judged.is_number, 0, null)
            ),
            null
        ) as score,
        max(label_scores.label) filter (where label_scores.is_label_of_text) as label_of_text,
        max(label_scores.weight) as weight,
        bool_or(label_scores.is_short) as is_short
    from label_scores
    inner join judged
        on
            label_scores.run_id = judged.run_id
            and label_scores.scorer = judged.scorer
    group by
        label_scores.run_id, label_scores.prompt_id, label_scores.trial, label_scores.response_hash,
        label_scores.mitigation, label_scores.category, label_scores.has_varied_answers, judged.scheme, judged.outcome,
        judged.scorer, judged.label, judged.worse, judged.lowest, judged.highest, judged.fault, judged.is_number
),

-- From 0, the better end of a score's range, to 1, the worse one: all are compared by that, whatever they are.
answer_scores as (
    select
        *,
        if(worse = 'higher', score - lowest, highest - score) / (highest - lowest) as badness
    from scores
)

select * from answer_scores
