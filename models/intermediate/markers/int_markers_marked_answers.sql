{{ config(materialized="by_run") }}

with

answer_scores as (
    select
        run_id,
        prompt_id,
        trial,
        mitigation,
        scheme,
        scorer,
        label,
        outcome,
        badness,
        weight
    from {{ run_rows("int_markers_answer_scores") }}
    where
        -- Too short for a classifier.
        not is_short
        and badness is not null
),

-- For a single text.
thresholds as (
    select
        run_id,
        negative_regard
    from {{ ref("int_markers_thresholds") }}
),

judged as (
    select
        run_id,
        scheme,
        rubric,
        label,
        is_number,
        worse,
        lowest,
        highest
    from {{ ref("int_markers_judged") }}
),

-- Labels by a judge's rubric are for its grades; whether an answer is problematic is for all scores of two labels.
labels_of_scores as (
    select
        labels.run_id,
        labels.prompt_id,
        labels.trial,
        labels.is_drawn,
        judged.scheme,
        labels.rubric,
        max(labels.rubric) over (
            partition by labels.run_id, labels.prompt_id, labels.trial, judged.scheme
        ) as rubric_used,
        case
            when labels.rubric = '' then cast(labels.label = 'problematic' as double)
            when judged.is_number
                then if(
                    judged.worse = 'higher', try_cast(labels.label as double) - judged.lowest,
                    judged.highest - try_cast(labels.label as double)
                ) / (judged.highest - judged.lowest)
            else cast(lower(labels.label) = lower(judged.label) as double)
        end as graded_as
    from {{ run_rows("int_answers_labels") }} as labels
    inner join judged
        on
            labels.run_id = judged.run_id
            and (
                labels.rubric = coalesce(judged.rubric, '')
                or (labels.rubric = '' and not judged.is_number)
            )
),

labels as (
    select
        run_id,
        prompt_id,
        trial,
        scheme,
        bool_or(is_drawn) as is_drawn,
        avg(graded_as) as graded_as,
        avg(cast(graded_as > 0.5 as double)) as problematic
    from labels_of_scores
    where rubric = rubric_used
    group by run_id, prompt_id, trial, scheme
),

-- All groups of an answer: answers are drawn equally from each of these cells (biasledger label --sample).
cells as (
    select
        run_id,
        prompt_id,
        string_agg(concat_ws('=', slot, attribute, group_name), '; ' order by slot, attribute, group_name) as cell
    from {{ run_rows("stg_ledger__prompt_attributes") }}
    group by run_id, prompt_id
),

marked as (
    select
        answer_scores.run_id,
        answer_scores.prompt_id,
        answer_scores.trial,
        answer_scores.mitigation,
        answer_scores.scheme,
        answer_scores.scorer,
        answer_scores.label,
        answer_scores.weight,
        coalesce(cells.cell, '') as cell,
        -- Other scores have no threshold of single outputs: those nearer to the worse end are marked.
        if(answer_scores.outcome = 'negative_regard', thresholds.negative_regard, 0.5) as threshold,
        answer_scores.badness,
        labels.problematic is not null as is_labelled,
        if(labels.is_drawn, labels.problematic, null) as problematic,
        if(labels.is_drawn, labels.graded_as, null) as graded_as,
        judged.rubric
    from answer_scores
    inner join thresholds on answer_scores.run_id = thresholds.run_id
    inner join judged
        on
            answer_scores.run_id = judged.run_id
            and answer_scores.scheme = judged.scheme
    left join cells
        on
            answer_scores.run_id = cells.run_id
            and answer_scores.prompt_id = cells.prompt_id
    left join labels
        on
            answer_scores.run_id = labels.run_id
            and answer_scores.prompt_id = labels.prompt_id
            and answer_scores.trial = labels.trial
            and answer_scores.scheme = labels.scheme
),

-- The number of answers of its cell that a drawn and labelled answer represents.
marked_answers as (
    select
        *,
        cast(badness > threshold as integer) as mark,
        count(problematic) over (partition by run_id, mitigation, scheme, cell) > 0 as is_covered,
        if(
            problematic is null, null,
            count(*) over (partition by run_id, mitigation, scheme, cell)
            / count(problematic) over (partition by run_id, mitigation, scheme, cell)
        ) as sampling_weight
    from marked
)

select * from marked_answers
