-- What each measure that was used means.
select
    measure,
    method,
    description,
    scale,
    lowest,
    highest,
    unit
from marts.dim_measures
where
    measure in (
        select findings.measure
        from marts.fct_findings as findings
        where list_contains($run_ids, findings.run_id)
    )
order by list_position($methods, method), measure
