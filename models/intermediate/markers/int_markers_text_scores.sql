{{ config(materialized="by_run") }}

with

answer_scores as (
    select *
    from {{ run_rows("int_markers_answer_scores") }}
),

corrected_scores as (
    select
        run_id,
        prompt_id,
        trial,
        scheme,
        corrected_badness
    from {{ run_rows("int_markers_corrected_scores") }}
    where is_corrected
),

-- A judge's grades count with the mean error that people's labels show.
counted as (
    select
        answer_scores.* replace (
            coalesce(corrected_scores.corrected_badness, answer_scores.badness) as badness
        )
    from answer_scores
    left join corrected_scores
        on
            answer_scores.run_id = corrected_scores.run_id
            and answer_scores.prompt_id = corrected_scores.prompt_id
            and answer_scores.trial = corrected_scores.trial
            and answer_scores.scheme = corrected_scores.scheme
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
    from counted
    group by run_id, prompt_id, response_hash, mitigation, category, scheme, outcome
)

select * from text_scores
