-- Who is left out of findings, and why; of one row or answer several reasons may hold.
select
    attribute,
    reason,
    stated_as,
    n,
    share,
    is_left_out,
    why
from marts.fct_exclusions
where run_id = $run_id
order by attribute <> '', attribute like '%*%', attribute, n desc, reason, stated_as
