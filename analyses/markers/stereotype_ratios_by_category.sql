-- How far do answers lean to the stereotype, by category?
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

with

rates as (
    select *
    from {{ ref("fct_stereotype_rates") }}
    where
        is_judged
        and attribute = ''
        and probe = '(all)'
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
    rates.stereotype_ratio,
    rates.interval_low,
    rates.interval_high,
    rates.p_value,
    rates.n_texts as n_different_answers,
    rates.n_assessable,
    rates.n_stereotype as n_with_stereotype_only,
    rates.n_anti as n_with_its_opposite_only,
    rates.n_both as n_with_both,
    rates.n_none as n_with_neither,
    rates.n_units as n_probes,
    rates.published_ratio
from rates
inner join runs on rates.run_id = runs.run_id
order by
    runs.audit asc, runs.target asc, rates.mitigation asc, rates.stereotype_ratio desc nulls last, rates.category asc
