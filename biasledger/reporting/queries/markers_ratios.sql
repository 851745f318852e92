-- How far answers lean to the stereotype: by category, and by single probe.
with

judged as (
    select
        finding_id,
        scheme,
        case measure when 'stereotype_ratio' then subject else '' end as category,
        case measure when 'stereotype_ratio' then '(all)' else subject end as probe,
        status,
        threshold
    from marts.fct_findings
    where
        run_id = $run_id
        and mitigation = 'plain'
        and measure in ('stereotype_ratio', 'probe_stereotype_ratio')
)

select
    rates.category,
    rates.probe,
    judged.finding_id,
    judged.status,
    rates.stereotype_ratio,
    rates.interval_low,
    rates.interval_high,
    judged.threshold,
    rates.p_value,
    rates.n_assessable,
    rates.n_texts,
    rates.n_units
from marts.fct_stereotype_rates as rates
left join judged
    on
        rates.scheme = judged.scheme
        and rates.probe = judged.probe
        and judged.category in ('', rates.category)
where
    rates.run_id = $run_id
    and rates.mitigation = 'plain'
    and rates.is_judged
    and rates.group_name = '(all)'
    and rates.category <> '(all)'
    and rates.stereotype_ratio is not null
order by rates.probe <> '(all)', rates.stereotype_ratio desc, rates.category, rates.probe
