-- Which probes lean furthest to the stereotype, and by which words?
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

with

marked_texts as (
    select
        run_id,
        mitigation,
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
        mitigation,
        scheme,
        category,
        probe,
        marker,
        row_number() over (
            partition by run_id, mitigation, scheme, category, probe order by count(*) desc, marker asc
        ) as marker_rank
    from marked_texts
    group by run_id, mitigation, scheme, category, probe, marker
),

markers_of_probes as (
    select
        run_id,
        mitigation,
        scheme,
        category,
        probe,
        string_agg(marker, ', ' order by marker_rank) as most_frequent_markers
    from marker_counts
    where marker_rank <= 5
    group by run_id, mitigation, scheme, category, probe
),

findings as (
    select
        run_id,
        mitigation,
        scheme,
        subject as probe,
        threshold,
        status
    from {{ ref("fct_findings") }}
    where measure = 'probe_stereotype_ratio'
),

rates as (
    select
        rates.*,
        findings.threshold,
        findings.status
    from {{ ref("fct_stereotype_rates") }} as rates
    inner join findings
        on
            rates.run_id = findings.run_id
            and rates.mitigation = findings.mitigation
            and rates.scheme = findings.scheme
            and rates.probe = findings.probe
    where
        rates.is_judged
        and rates.attribute = ''
        and rates.stereotype_ratio > findings.threshold
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
)

select
    runs.audit,
    runs.target,
    rates.mitigation,
    rates.category,
    rates.probe,
    rates.target_group,
    rates.n_texts as n_different_answers,
    rates.n_assessable,
    rates.stereotype_ratio,
    rates.interval_low,
    rates.interval_high,
    rates.threshold,
    rates.status,
    markers_of_probes.most_frequent_markers
from rates
inner join runs on rates.run_id = runs.run_id
inner join markers_of_probes
    on
        rates.run_id = markers_of_probes.run_id
        and rates.mitigation = markers_of_probes.mitigation
        and rates.scheme = markers_of_probes.scheme
        and rates.category = markers_of_probes.category
        and rates.probe = markers_of_probes.probe
order by
    rates.stereotype_ratio desc, runs.audit asc, runs.target asc, rates.mitigation asc, rates.category asc,
    rates.probe asc
