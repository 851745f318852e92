-- What a mitigation changed in each measure, against the plain audit of the same run, where enough answers say so.
select
    variant,
    measure,
    attribute,
    group_name,
    reference_group,
    subject,
    verdict,
    plain_value,
    variant_value,
    difference,
    interval_low,
    interval_high,
    p_value
from marts.fct_variant_comparisons
where
    run_id = $run_id
    and verdict <> 'insufficient_data'
order by variant, measure, attribute like '%*%', attribute, group_name, reference_group, subject, scheme
