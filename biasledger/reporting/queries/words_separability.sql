-- How well a classifier tells groups apart, beside what it reaches when labels are shuffled.
with

judged as (
    select
        contrast_id,
        scheme,
        status,
        threshold
    from marts.fct_findings
    where measure = 'separability'
)

select
    separability.attribute,
    separability.comparison,
    separability.group_name,
    separability.reference_group,
    judged.status,
    separability.beyond_chance,
    separability.interval_low,
    separability.interval_high,
    -- What shuffled labels reach counts as guessing, also where templates are unevenly shared out.
    if(separability.comparison = 'all_groups', separability.null_mean, least(separability.null_mean, 0.5)) as guessing,
    guessing - 1.96 * separability.null_sd as null_low,
    guessing + 1.96 * separability.null_sd as null_high,
    judged.threshold,
    separability.p_value,
    separability.n_marked_units,
    separability.n_reference_units
from marts.fct_separability as separability
left join judged using (contrast_id, scheme)
where
    separability.run_id = $run_id
    and separability.variant = 'plain'
    and separability.p_value is not null
order by
    separability.attribute like '%*%',
    separability.attribute,
    separability.comparison = 'all_groups',
    separability.beyond_chance desc,
    separability.group_name,
    separability.reference_group
