-- The languages of the answers about each group, and a clause where they differ between groups.
with

gaps as (
    select
        attribute,
        group_name,
        any_value(languages order by languages) as difference
    from marts.fct_language_gaps
    where
        run_id = $run_id
        and mitigation = 'plain'
        and is_different
        and group_name <> '(all)'
    group by attribute, group_name
)

select
    answers.attribute,
    answers.group_name,
    answers.language_name as language,
    answers.n,
    answers.share,
    answers.is_checked_for_refusals,
    gaps.difference
from marts.fct_answer_languages as answers
left join gaps
    on
        answers.attribute = gaps.attribute
        and answers.group_name = gaps.group_name
where
    answers.run_id = $run_id
    and answers.mitigation = 'plain'
order by answers.attribute like '%*%', answers.attribute, answers.group_name, answers.n desc, answers.language_name
