with

scores as (
    select *
    from {{ ref("int_markers_scores") }}
    where is_assessable
),

categories as (
    select
        run_id,
        variant,
        category,
        bool_and(is_named) as has_names_only
    from {{ ref("int_markers_texts") }}
    group by run_id, variant, category
),

-- A text is sampled anew at each trial; texts about one named person share that person.
of_probes as (
    select
        run_id,
        variant,
        scheme,
        category,
        probe,
        concat_ws(' | ', prompt_id, response_hash) as unit,
        if(is_named, prompt_id, concat_ws(' | ', prompt_id, response_hash)) as cluster,
        1 as n,
        ratio as total_ratio
    from scores
    where probe <> ''
),

-- Ratios of probes that name somebody depend on the names: beside others they are left out.
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
