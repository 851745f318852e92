-- What would settle the inconclusive findings: units a group that would about do, beside what there is.
select
    audit,
    target,
    measure,
    attribute,
    group_name,
    n_units,
    n_units_needed
from {{ ref("fct_findings") }}
where
    status = 'inconclusive'
    and is_current
order by n_units_needed
