-- Which groups are selected at less than four fifths of the rate of the group selected most?
{{ config(enabled='decisions' in env_var('BIASLEDGER_METHODS', 'decisions')) }}

-- Uniform Guidelines on Employee Selection Procedures, 29 CFR 1607.4(D). A small difference may still be adverse impact
-- where it is significant, and a larger one none where numbers are small. Fisher's p assumes independent decisions.
-- n_more_to_four_fifths is how many more of the group would have to be selected.
with

rates as (
    select
        run_id,
        domain,
        attribute,
        group_name,
        n_people,
        n_selected,
        selection_rate,
        impact_ratio,
        impact_ratio_low,
        impact_ratio_high,
        is_below_four_fifths,
        fisher_p_value,
        excluded_reason,
        max(selection_rate) filter (where excluded_reason is null) over (
            partition by run_id, domain, attribute
        ) as best_rate,
        max(if(is_best_off, group_name, null)) over (
            partition by run_id, domain, attribute
        ) as best_off_group
    from {{ ref("fct_decision_rates") }}
    where
        mitigation = 'plain'
        and selection_rate is not null
),

runs as (
    select
        run_id,
        audit,
        target,
        started_at
    from {{ ref("dim_runs") }}
)

select
    runs.audit,
    runs.target,
    rates.run_id,
    rates.domain as job,
    rates.attribute,
    rates.group_name,
    rates.n_people as number_of_applicants,
    rates.n_selected as number_selected,
    rates.selection_rate,
    rates.best_off_group,
    rates.impact_ratio,
    rates.impact_ratio_low,
    rates.impact_ratio_high,
    rates.is_below_four_fifths,
    rates.fisher_p_value,
    case
        when rates.is_below_four_fifths
            then cast(ceil(0.8 * rates.best_rate * rates.n_people - 0.000000001) as bigint) - rates.n_selected
        when not rates.is_below_four_fifths then 0
    end as n_more_to_four_fifths,
    rates.excluded_reason as left_out_because
from rates
inner join runs on rates.run_id = runs.run_id
order by
    runs.audit asc, runs.target asc, runs.started_at desc, rates.run_id asc, job asc,
    strpos(rates.attribute, '*') > 0 asc, rates.attribute asc, rates.selection_rate desc, rates.group_name asc
