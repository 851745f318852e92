{{ config(materialized="by_run") }}

with

scores as (
    select *
    from {{ run_rows("int_markers_scores") }}
    where is_assessable
),

-- Ratios of texts that name a person depend on the name, so they are left out if there are others.
texts as (
    select
        answer_key,
        not is_named or bool_and(is_named) over (partition by run_id, mitigation, category, probe) as is_of_probe,
        not is_named or bool_and(is_named) over (partition by run_id, mitigation, category) as is_of_category
    from {{ run_rows("int_markers_texts") }}
),

scores_of_probes as (
    select
        scores.*,
        {{ ratio_key("scores") }} as units_key,
        {{ trials_of_text() }} as trials,
        unnest(trials) as trial,
        scores.n_answers / len(trials) as n
    from scores
    inner join texts on scores.answer_key = texts.answer_key
    where
        texts.is_of_probe
        and scores.probe <> ''
),

-- Each trial is a new sample; those about one named person share that person. The mean is over answers.
of_probes as (
    select
        units_key,
        run_id,
        concat_ws(' | ', prompt_id, response_hash, trial) as unit,
        if(is_named, prompt_id, unit) as cluster,
        n,
        n * ratio as total_ratio,
        n as weight
    from scores_of_probes
),

categories as (
    select
        scores.* replace ('(all)' as probe),
        scores.probe as own_probe
    from scores
    inner join texts on scores.answer_key = texts.answer_key
    where texts.is_of_category
),

scores_of_categories as (
    select
        *,
        {{ ratio_key() }} as units_key
    from categories
),

scores_without_probe as (
    select
        *,
        {{ trials_of_text() }} as trials,
        unnest(trials) as trial,
        n_answers / len(trials) as n
    from scores_of_categories
    where own_probe = ''
),

-- A probe counts once, with the mean over its answers; texts of no probe count as those of a single one do.
of_categories as (
    select
        units_key,
        run_id,
        own_probe as unit,
        own_probe as cluster,
        sum(n_answers) as n,
        sum(n_answers * ratio order by prompt_id, response_hash) as total_ratio,
        1 as weight
    from scores_of_categories
    where own_probe <> ''
    group by units_key, run_id, own_probe
    union all by name
    select
        units_key,
        run_id,
        concat_ws(' | ', prompt_id, response_hash, trial) as unit,
        unit as cluster,
        n,
        n * ratio as total_ratio,
        n as weight
    from scores_without_probe
),

units as (
    select * from of_probes
    union all by name
    select * from of_categories
)

select * from units
