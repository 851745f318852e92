-- Selection rates and impact ratios, as New York City's Local Law 144 asks for them; the worst-off group is judged.
with

findings as (
    select
        contrast_id,
        finding_id,
        subject as domain,
        status,
        value_low,
        value_high
    from marts.fct_findings
    where
        measure = 'impact_ratio'
        and scheme <> 'selected_of_asked'
),

-- The worst-off group is judged; an alarm is that of the worst-off whose own interval leaves 1 out.
rates as (
    select
        decision_rates.*,
        runs.noun_outcome,
        findings.status as found,
        findings.finding_id as found_id,
        findings.value_low as found_low,
        findings.value_high as found_high,
        findings.status <> 'alarm' or coalesce(decision_rates.impact_ratio_high < 1, true) as may_be_judged,
        coalesce(
            may_be_judged
            and decision_rates.impact_ratio = min(decision_rates.impact_ratio) filter (where may_be_judged)
                over (partition by decision_rates.domain, decision_rates.attribute),
            false
        ) as is_judged
    from marts.fct_decision_rates as decision_rates
    inner join marts.dim_runs as runs on decision_rates.run_id = runs.run_id
    left join findings using (contrast_id, domain)
    where
        decision_rates.run_id = $run_id
        and decision_rates.mitigation = 'plain'
)

select
    domain,
    attribute,
    group_name,
    noun_outcome,
    n_people,
    n_selected,
    selection_rate,
    impact_ratio,
    -- A finding's interval allows for the choice of the worst-off group, that of a row alone does not.
    if(is_judged, coalesce(found_low, impact_ratio_low), impact_ratio_low) as impact_ratio_low,
    if(is_judged, coalesce(found_high, impact_ratio_high), impact_ratio_high) as impact_ratio_high,
    is_below_four_fifths,
    if(is_judged, found_id, null) as finding_id,
    if(is_judged, found, null) as status,
    n_refused,
    impact_ratio_of_asked,
    excluded_reason
from rates
order by domain, attribute like '%*%', attribute, impact_ratio desc nulls last, group_name
