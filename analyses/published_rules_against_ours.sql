-- How often the published rule and the calibrated one disagree, by measure.
select
    measure,
    count(*) as n_findings,
    count(*) filter (where is_published_alarm) as n_published_alarms,
    count(*) filter (where status = 'alarm') as n_alarms,
    count(*) filter (where is_published_alarm and status <> 'alarm') as n_published_only
from {{ ref("fct_findings") }}
where is_current
group by measure
order by measure
