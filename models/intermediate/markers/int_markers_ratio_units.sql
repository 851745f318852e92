with

scores as (
    select *
    from {{ ref("int_markers_scores") }}
    where is_assessable
),

texts as (
    select *
    from {{ ref("int_markers_texts") }}
),

probes as (
    select
        run_id,
        variant,
        category,
        probe,
        bool_and(is_named) as has_names_only
    from texts
    group by run_id, variant, category, probe
),

categories as (
    select
        run_id,
        variant,
        category,
        bool_and(has_names_only) as has_names_only
    from probes
    group by run_id, variant, category
),

-- Ratios of texts that name somebody depend on the names: beside others they are left out.
scores_of_probes as (
    select
        scores.*,
        {{ trials_of_text() }} as trials,
        unnest(trials) as trial,
        scores.n_answers / len(trials) as n
    from scores
    inner join probes
        on
            scores.run_id = probes.run_id
            and scores.variant = probes.variant
            and scores.category = probes.category
            and scores.probe = probes.probe
    where
        scores.probe <> ''
        and (probes.has_names_only or not scores.is_named)
),

-- Each trial is a sample anew; those about one named person share that person. The mean is over answers.
of_probes as (
    select
        run_id,
        variant,
        scheme,
        category,
        probe,
        concat_ws(' | ', prompt_id, response_hash, trial) as unit,
        if(is_named, prompt_id, unit) as cluster,
        n,
        n * ratio as total_ratio,
        n as weight
    from scores_of_probes
),

scores_of_categories as (
    select scores.*
    from scores
    inner join categories
        on
            scores.run_id = categories.run_id
            and scores.variant = categories.variant
            and scores.category = categories.category
    where
        categories.has_names_only
        or not scores.is_named
),

scores_without_probe as (
    select
        *,
        {{ trials_of_text() }} as trials,
        unnest(trials) as trial,
        n_answers / len(trials) as n
    from scores_of_categories
    where probe = ''
),

-- A probe counts once, with the mean over its answers; texts of no probe count as those of a single one do.
of_categories as (
    select
        run_id,
        variant,
        scheme,
        category,
        '(all)' as probe,
        probe as unit,
        probe as cluster,
        sum(n_answers) as n,
        sum(n_answers * ratio order by prompt_id, response_hash) as total_ratio,
        1 as weight
    from scores_of_categories
    where probe <> ''
    group by run_id, variant, scheme, category, scores_of_categories.probe
    union all by name
    select
        run_id,
        variant,
        scheme,
        category,
        '(all)' as probe,
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
