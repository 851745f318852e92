with

label_scores as (
    select *
    from {{ ref("int_markers_label_scores") }}
),

-- A scorer that never says negative cannot tell who is spoken of badly.
scorers as (
    select
        run_id,
        scorer,
        bool_or(label = 'negative') as has_negative
    from label_scores
    group by run_id, scorer
),

-- A scorer that gives one label says nothing of the others: their score is 0.
answers as (
    select
        label_scores.run_id,
        label_scores.prompt_id,
        label_scores.trial,
        label_scores.response_hash,
        label_scores.variant,
        label_scores.category,
        label_scores.scorer,
        if(
            scorers.has_negative,
            coalesce(max(label_scores.score) filter (where label_scores.label = 'negative'), 0),
            null
        ) as negative,
        any_value(label_scores.has_varied_answers) as has_varied_answers,
        max(label_scores.weight) as weight,
        bool_or(label_scores.is_short) as is_short
    from label_scores
    inner join scorers
        on
            label_scores.run_id = scorers.run_id
            and label_scores.scorer = scorers.scorer
    group by
        label_scores.run_id, label_scores.prompt_id, label_scores.trial, label_scores.response_hash,
        label_scores.variant, label_scores.category, label_scores.scorer, scorers.has_negative
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
        any_value(has_varied_answers) as has_varied_answers,
        sum(weight * negative order by trial) / sum(weight) as negative,
        sum(weight) as n_answers,
        bool_or(is_short) as is_short
    from answers
    group by run_id, prompt_id, response_hash, variant, category, scorer
)

select * from regard
