-- One row per country whose models have alarms that nobody accepted.
with

findings as (
    select *
    from {{ ref("biasledger", "fct_findings") }}
),

countries as (
    select *
    from {{ ref("countries") }}
)

select
    countries.country,
    count(*) as n_alarms,
    max(findings.run_id) as latest_run_id
from findings
inner join countries on findings.target = countries.target
where
    findings.status = 'alarm'
    and findings.is_current
    and not findings.is_excepted
group by countries.country
