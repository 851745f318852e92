-- The words that were taken out of the texts, why, and how many answers used them; those that most answers used first.
with

-- Each answer stands under one group of every attribute: one attribute counts all.
first_attribute as (
    select min(attribute) as attribute
    from marts.fct_removed_words
    where run_id = $run_id
)

select
    removed.word,
    removed.why,
    removed.list_name,
    removed.named_groups,
    sum(removed.n_answers_using) as n_answers_using,
    sum(removed.n_occurrences) as n_occurrences
from marts.fct_removed_words as removed
inner join first_attribute on removed.attribute = first_attribute.attribute
where
    removed.run_id = $run_id
    and removed.mitigation = 'plain'
group by removed.word, removed.why, removed.list_name, removed.named_groups
order by n_answers_using desc, removed.word, removed.why, removed.list_name, removed.named_groups
