-- Who got an answer that could be used, and what the others got.
select
    attribute,
    group_name,
    n_answers,
    n_ok,
    n_refused,
    n_malformed,
    n_truncated,
    n_error,
    share_ok,
    share_refused
from marts.fct_answer_quality
where
    run_id = $run_id
    and variant = 'plain'
order by attribute like '%*%', attribute, share_ok, group_name
