-- Selection rates and impact ratios, as New York City's Local Law 144 asks for them; the worst-off group is judged.
with

judged as (
    select
        contrast_id,
        subject as domain,
        status
    from marts.fct_findings
    where
        measure = 'impact_ratio'
        and scheme <> 'selected_of_asked'
)

select
    rates.domain,
    rates.attribute,
    rates.group_name,
    rates.n_people,
    rates.n_selected,
    rates.selection_rate,
    rates.impact_ratio,
    rates.impact_ratio_low,
    rates.impact_ratio_high,
    rates.is_below_four_fifths,
    -- The worst-off group is judged; an alarm is that of the worst-off whose own interval leaves 1 out.
    case
        when
            rates.impact_ratio = min(rates.impact_ratio) filter (
                where judged.status <> 'alarm' or coalesce(rates.impact_ratio_high < 1, true)
            ) over (partition by rates.domain, rates.attribute)
            and (judged.status <> 'alarm' or coalesce(rates.impact_ratio_high < 1, true))
            then judged.status
    end as status,
    rates.n_refused,
    rates.impact_ratio_of_asked,
    rates.excluded_reason
from marts.fct_decision_rates as rates
left join judged using (contrast_id, domain)
where
    rates.run_id = $run_id
    and rates.mitigation = 'plain'
order by
    rates.domain, rates.attribute like '%*%', rates.attribute, rates.impact_ratio desc nulls last, rates.group_name
