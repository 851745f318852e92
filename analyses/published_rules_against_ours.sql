-- How often does the rule of a measure's own paper disagree with ours?
select
    measure,
    count(*) as n_findings,
    sum(case when is_published_alarm then 1 else 0 end) as n_published_alarms,
    sum(case when status = 'alarm' then 1 else 0 end) as n_alarms,
    sum(case when is_published_alarm and status <> 'alarm' then 1 else 0 end) as n_published_only,
    sum(case when status = 'alarm' and not coalesce(is_published_alarm, false) then 1 else 0 end) as n_ours_only
from {{ ref("fct_findings") }}
where is_current
group by measure
order by measure
