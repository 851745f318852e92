-- A finding that no permutation reached would be an alarm if its effect were large enough: if Holm's correction could
-- keep it from that, too few permutations were drawn for the findings judged together.
with

findings as (
    select
        *,
        count(*) over (partition by run_id, mitigation, severity, p_value is null) as n_judged_together
    from {{ ref("fct_findings") }}
    where status <> 'insufficient_data'
)

select
    run_id,
    mitigation,
    severity,
    measure,
    attribute,
    n_permutations,
    n_judged_together
from findings
where
    n_permutations > 0
    and p_value <= 1.5 / (n_permutations + 1)
    and n_judged_together * p_value >= alpha
