-- How many answers about each group use a form of address, kind by kind; kinds that no answer uses are left out.
select
    attribute,
    group_name,
    kind,
    share_using,
    n_answers_using,
    n_answers,
    n_occurrences
from marts.fct_address_forms
where
    run_id = $run_id
    and mitigation = 'plain'
qualify sum(n_answers_using) over (partition by attribute, kind) > 0
order by attribute, kind, group_name
