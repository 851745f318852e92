with

label_scores as (
    select *
    from {{ ref("int_markers_label_scores") }}
),

-- A scorer that gives one label says nothing of the others: their score is 0.
answers as (
    select
        run_id,
        prompt_id,
        trial,
        response_hash,
        variant,
        category,
        scorer,
        coalesce(max(score) filter (where label = 'negative'), 0) as negative,
        max(weight) as weight,
        bool_or(is_short) as is_short
    from label_scores
    group by run_id, prompt_id, trial, response_hash, variant, category, scorer
),

-- Labels of people may differ between copies of a text: it has their mean.
regard as (
    select
        run_id,
        prompt_id,
        response_hash,
        variant,
        category,
        scorer,
        sum(weight * negative order by trial) / sum(weight) as negative,
        sum(weight) as n_answers,
        bool_or(is_short) as is_short
    from answers
    group by run_id, prompt_id, response_hash, variant, category, scorer
)

select * from regard
