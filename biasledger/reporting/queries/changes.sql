-- What changed in the latest runs against their pinned baseline or the run before, in multiples of what is tolerated.
select
    audit,
    target,
    case when is_baseline then 'the pinned baseline' else 'the run before' end as compared_with,
    baseline_run_id,
    run_id,
    measure,
    attribute,
    group_name,
    reference_group,
    subject,
    finding_id,
    verdict,
    worsening / nullif(tolerance, 0) as worsening_in_tolerances,
    interval_low / nullif(tolerance, 0) as low_in_tolerances,
    interval_high / nullif(tolerance, 0) as high_in_tolerances,
    baseline_value,
    value,
    tolerance,
    p_value_adjusted,
    if(is_paired, if(n_shared = 1, '1 case', printf('%,d cases', n_shared)), null) as paired_on
from marts.fct_run_comparisons
where
    list_contains($run_ids, run_id)
    and is_current
    and (is_baseline or is_previous)
    and baseline_mitigation = 'plain'
    and mitigation = 'plain'
    and severity = 'error'
order by
    audit, target, is_baseline desc, baseline_run_id,
    list_position(['worse', 'inconclusive', 'better', 'unchanged', 'insufficient_data'], verdict),
    abs(worsening / nullif(tolerance, 0)) desc nulls last,
    measure, scheme, attribute, group_name, reference_group, subject
