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

-- A text is sampled anew at each trial; texts about one named person share that person. Ratios of texts that name
-- somebody depend on the names: beside others they are left out.
of_probes as (
    select
        scores.run_id,
        scores.variant,
        scores.scheme,
        scores.category,
        scores.probe,
        concat_ws(' | ', scores.prompt_id, scores.response_hash) as unit,
        if(scores.is_named, scores.prompt_id, concat_ws(' | ', scores.prompt_id, scores.response_hash)) as cluster,
        1 as n,
        scores.ratio as total_ratio
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

of_categories as (
    select
        scores.run_id,
        scores.variant,
        scores.scheme,
        scores.category,
        '(all)' as probe,
        if(scores.probe = '', concat_ws(' | ', scores.prompt_id, scores.response_hash), scores.probe) as unit,
        unit as cluster,
        count(*) as n,
        sum(scores.ratio order by scores.prompt_id, scores.response_hash) as total_ratio
    from scores
    inner join categories
        on
            scores.run_id = categories.run_id
            and scores.variant = categories.variant
            and scores.category = categories.category
    where
        categories.has_names_only
        or not scores.is_named
    group by all
),

units as (
    select * from of_probes
    union all by name
    select * from of_categories
)

select * from units
