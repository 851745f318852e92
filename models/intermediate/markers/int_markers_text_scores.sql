{{ config(materialized="by_run") }}

with

answer_scores as (
    select *
    from {{ run_rows("int_markers_answer_scores") }}
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
