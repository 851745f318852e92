{{ config(enabled='markers' in env_var('BIASLEDGER_ROOMS', 'words lists decisions prices markers')) }}

-- Which probes lean furthest to the stereotype, and by which words.
with

marked_texts as (
    select
        run_id,
        variant,
        scheme,
        category,
        probe,
        unnest(stereotype_markers) as marker
    from {{ ref("fct_stereotype_scores") }}
    where is_assessable
),

marker_counts as (
    select
        run_id,
        variant,
        scheme,
        category,
        probe,
        marker,
        count(*) as n_answers
    from marked_texts
    group by all
),

markers_of_probes as (
    select
        run_id,
        variant,
        scheme,
        category,
        probe,
        list(marker order by n_answers desc, marker asc)[:5] as most_frequent_markers
    from marker_counts
    group by run_id, variant, scheme, category, probe
)

select
    rates.run_id,
    rates.category,
    rates.probe,
    rates.target_group,
    rates.n_texts,
    rates.n_assessable,
    rates.stereotype_ratio,
    rates.interval_low,
    rates.interval_high,
    markers_of_probes.most_frequent_markers
from {{ ref("fct_stereotype_rates") }} as rates
inner join markers_of_probes
    on
        rates.run_id = markers_of_probes.run_id
        and rates.variant = markers_of_probes.variant
        and rates.scheme = markers_of_probes.scheme
        and rates.category = markers_of_probes.category
        and rates.probe = markers_of_probes.probe
where
    rates.is_judged
    and rates.attribute = ''
    and rates.stereotype_ratio > 0.7
order by rates.stereotype_ratio desc, rates.probe asc
