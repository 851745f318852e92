-- Do groups meet the same kinds of error? Largest less smallest rate of an attribute's groups.
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

-- The same formulas as Fairlearn's demographic_parity_difference, equal_opportunity_difference and
-- equalized_odds_difference (Hardt, Price & Srebro 2016). They are never below 0 and grow by chance alone where groups
-- are small or many; findings of error_rate_gap are tested.
with

rates as (
    select *
    from {{ ref("fct_decision_rates") }}
    where group_name <> ''
),

differences as (
    select
        run_id,
        mitigation,
        domain,
        attribute,
        count(*) as n_groups,
        max(selection_rate) - min(selection_rate) as demographic_parity_difference,
        max(false_negative_rate) - min(false_negative_rate) as equal_opportunity_difference,
        max(false_positive_rate) - min(false_positive_rate) as false_positive_difference
    from rates
    group by run_id, mitigation, domain, attribute
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
    differences.mitigation,
    differences.domain as job,
    differences.attribute,
    differences.n_groups,
    greatest(
        differences.equal_opportunity_difference, differences.false_positive_difference
    ) as equalized_odds_difference,
    differences.equal_opportunity_difference,
    differences.false_positive_difference,
    differences.demographic_parity_difference
from differences
inner join runs on differences.run_id = runs.run_id
where
    differences.equal_opportunity_difference is not null
    or differences.false_positive_difference is not null
order by
    runs.audit, runs.target, differences.mitigation, job, strpos(differences.attribute, '*') > 0, differences.attribute
