{{ config(materialized="by_run") }}

with

scores as (
    select *
    from {{ run_rows("int_markers_scores") }}
    where markers_hash is not null
),

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

probes as (
    select
        markers_hash,
        probe,
        target_group
    from {{ ref("stg_ledger__probes") }}
),

thresholds as (
    select
        run_id,
        ratio as threshold
    from {{ ref("int_markers_thresholds") }}
),

comparisons as (
    select
        comparison_key,
        units_key as ratio_key
    from {{ ref("int_markers_comparisons") }}
    where kind = 'ratio'
),

ratios as (
    select *
    from {{ ref("int_markers_ratios") }}
),

-- All texts, and those about each group.
scores_of_groups as (
    select
        *,
        '' as attribute,
        '(all)' as group_name
    from scores
    union all by name
    select
        scores.*,
        prompt_groups.attribute,
        prompt_groups.group_name
    from scores
    inner join prompt_groups
        on
            scores.run_id = prompt_groups.run_id
            and scores.prompt_id = prompt_groups.prompt_id
),

-- A category without probes has no rows of probes, and a single category is all there is.
levels as (
    select *
    from scores_of_groups
    where probe <> ''
    union all by name
    select * replace ('(all)' as probe)
    from scores_of_groups
    union all by name
    select
        * replace (
            '(all)' as category,
            '(all)' as probe
        )
    from scores_of_groups
    qualify min(category) over (partition by run_id) < max(category) over (partition by run_id)
),

counted as (
    select
        levels.run_id,
        levels.mitigation,
        levels.scheme,
        levels.is_judged,
        levels.markers_hash,
        levels.attribute,
        levels.group_name,
        levels.category,
        levels.probe,
        sum(levels.n_answers) as n_answers,
        count(*) as n_texts,
        count(*) filter (where levels.code = 'stereotype') as n_stereotype,
        count(*) filter (where levels.code = 'anti') as n_anti,
        count(*) filter (where levels.code = 'both') as n_both,
        count(*) filter (where levels.code = 'none') as n_none,
        count(*) filter (where levels.is_assessable) as n_assessable,
        count(*) filter (where levels.is_assessable and levels.ratio > thresholds.threshold) as n_past_threshold,
        sum(levels.n_answers) filter (where levels.is_assessable and levels.ratio > thresholds.threshold)
            as n_answers_past_threshold,
        -- Answers without a marker count as neutral in the source's means.
        sum(levels.n_answers * levels.ratio order by levels.prompt_id, levels.response_hash) / sum(levels.n_answers)
            as published_ratio
    from levels
    inner join thresholds on levels.run_id = thresholds.run_id
    group by
        levels.run_id, levels.mitigation, levels.scheme, levels.is_judged, levels.markers_hash, levels.attribute,
        levels.group_name, levels.category, levels.probe
),

keyed as (
    select
        *,
        -- Nothing is estimated by group.
        if(attribute = '', {{ ratio_key() }}, null) as ratio_key
    from counted
),

measured as (
    select
        comparisons.ratio_key,
        ratios.*
    from ratios
    inner join comparisons on ratios.comparison_key = comparisons.comparison_key
),

stereotype_rates as (
    select
        keyed.*,
        probes.target_group,
        coalesce(keyed.n_answers_past_threshold, 0) / keyed.n_answers as share_past_threshold,
        measured.*,
        measured.ratio as stereotype_ratio
    from keyed
    left join measured on keyed.ratio_key = measured.ratio_key
    left join probes
        on
            keyed.markers_hash = probes.markers_hash
            and keyed.probe = probes.probe
)

{{ contracted("stereotype_rates") }}
