{%- set runs = new_runs(ref("int_markers_scored_runs"), key="scores_state") -%}
{{ config(materialized="kept", kept_by="scores_state", kept_in="int_markers_scored_runs", told_by="run_id") }}

with

answer_scores as (
    select *
    from {{ ref("int_markers_answer_scores") }}
    where {{ is_of_runs("run_id", runs) }}
),

-- Labels of people may differ between copies of a text: it has their mean.
text_scores as (
    select
        run_id,
        prompt_id,
        response_hash,
        mitigation,
        category,
        scheme,
        outcome,
        any_value(has_varied_answers) as has_varied_answers,
        sum(weight * badness order by trial) / sum(weight) filter (where badness is not null) as badness,
        sum(weight) filter (where badness is not null) as n_answers,
        bool_or(is_short) as is_short
    from answer_scores
    group by run_id, prompt_id, response_hash, mitigation, category, scheme, outcome
)

select * from text_scores
