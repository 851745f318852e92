-- By which rule the answers about each group were read, and how many no rule reads.
select
    coalesce(nullif(attribute, ''), 'no group') as attribute,
    coalesce(nullif(group_name, ''), 'no group') as group_name,
    read_by as rule,
    status,
    n,
    share,
    case
        when status = 'ok' then coalesce(nullif(read_by, ''), 'read')
        when status = 'truncated' then 'cut off'
        when status = 'error' then 'failed'
        else status
    end as part
from marts.fct_answer_reading as answers
where
    run_id = $run_id
    and variant = 'plain'
order by
    answers.attribute = '', answers.attribute like '%*%', answers.attribute, answers.group_name,
    status = 'ok' desc, status, n desc, read_by
