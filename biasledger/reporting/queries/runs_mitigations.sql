-- What a mitigation changed in each measure, against the plain audit of the same run, where enough answers say so.
select
    mitigation,
    measure,
    attribute,
    group_name,
    reference_group,
    subject,
    finding_id,
    verdict,
    plain_value,
    mitigation_value,
    difference,
    interval_low,
    interval_high,
    p_value
from marts.fct_mitigation_comparisons
where
    run_id = $run_id
    and verdict <> 'insufficient_data'
order by mitigation, measure, attribute like '%*%', attribute, group_name, reference_group, subject, scheme
