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
        -- A classifier has too little to go by.
        not is_short
        and badness is not null
),

-- Of a single text.
thresholds as (
    select
        run_id,
        negative_regard
    from {{ ref("int_markers_thresholds") }}
),

labels as (
    select
        run_id,
        prompt_id,
        trial,
        is_drawn,
        avg(if(label = 'problematic', 1, 0)) as problematic
    from {{ run_rows("int_answers_labels") }}
    group by run_id, prompt_id, trial, is_drawn
),

-- Whom an answer is about, in all: answers are drawn from each of these alike (biasledger label --sample).
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
        -- Other scores have no threshold of single outputs: what lies nearer to the worse end is marked.
        if(answer_scores.outcome = 'negative_regard', thresholds.negative_regard, 0.5) as threshold,
        answer_scores.badness,
        labels.problematic is not null as is_labelled,
        if(labels.is_drawn, labels.problematic, null) as problematic
    from answer_scores
    inner join thresholds on answer_scores.run_id = thresholds.run_id
    left join cells
        on
            answer_scores.run_id = cells.run_id
            and answer_scores.prompt_id = cells.prompt_id
    left join labels
        on
            answer_scores.run_id = labels.run_id
            and answer_scores.prompt_id = labels.prompt_id
            and answer_scores.trial = labels.trial
),

-- How many answers of its cell one that was drawn and labelled stands for.
marked_answers as (
    select
        *,
        cast(badness > threshold as integer) as mark,
        count(problematic) over (partition by run_id, mitigation, scheme, cell) > 0 as is_covered,
        if(
            problematic is null, null,
            count(*) over (partition by run_id, mitigation, scheme, cell)
            / count(problematic) over (partition by run_id, mitigation, scheme, cell)
        ) as stands_for
    from marked
)

select * from marked_answers
