-- The groups that the audit declares and of which nothing is known, asked without a mitigation.
select
    attribute,
    group_name,
    silence
from marts.fct_group_coverage
where
    run_id = $run_id
    and variant = 'plain'
    and is_silent
order by attribute, group_name
