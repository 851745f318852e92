-- Who got an answer that could be used, and what the others got; with groups of which nothing is known.
with

quality as (
    select
        attribute,
        group_name,
        n_answers,
        n_ok,
        n_refused,
        n_unread,
        n_malformed,
        n_truncated,
        n_error,
        share_ok,
        share_refused
    from marts.fct_answer_quality
    where
        run_id = $run_id
        and mitigation = 'plain'
),

silent as (
    select
        attribute,
        group_name,
        silence
    from marts.fct_group_coverage
    where
        run_id = $run_id
        and mitigation = 'plain'
        and is_silent
)

select
    coalesce(quality.attribute, silent.attribute) as attribute,
    coalesce(quality.group_name, silent.group_name) as group_name,
    coalesce(quality.n_answers, 0) as n_answers,
    coalesce(quality.n_ok, 0) as n_ok,
    coalesce(quality.n_refused, 0) as n_refused,
    coalesce(quality.n_unread, 0) as n_unread,
    coalesce(quality.n_malformed, 0) as n_malformed,
    coalesce(quality.n_truncated, 0) as n_truncated,
    coalesce(quality.n_error, 0) as n_error,
    quality.share_ok,
    quality.share_refused,
    silent.silence
from quality
full join silent
    on
        quality.attribute = silent.attribute
        and quality.group_name = silent.group_name
order by
    coalesce(quality.attribute, silent.attribute) like '%*%', coalesce(quality.attribute, silent.attribute),
    quality.share_ok nulls first, coalesce(quality.group_name, silent.group_name)
