-- The most frequent words in the names of the items that a group or its reference group gets.
with

compared as (
    select distinct
        attribute,
        group_name,
        reference_group
    from marts.fct_mean_price_levels
    where
        run_id = $run_id
        and mitigation = 'plain'
        and domain = '(all)'
        and not is_crossed
        and not is_reference
        and reference_group not like '(%'
),

words as (
    select
        attribute,
        group_name,
        word,
        word_rank,
        share
    from marts.fct_item_words
    where
        run_id = $run_id
        and mitigation = 'plain'
),

either as (
    select distinct
        compared.attribute,
        compared.group_name,
        compared.reference_group,
        words.word
    from compared
    inner join words
        on
            compared.attribute = words.attribute
            and words.group_name in (compared.group_name, compared.reference_group)
    where words.word_rank <= 10
),

shares as (
    select
        either.attribute,
        either.group_name,
        either.reference_group,
        either.word,
        coalesce(of_group.share, 0) as share,
        coalesce(of_reference.share, 0) as reference_share
    from either
    left join words as of_group
        on
            either.attribute = of_group.attribute
            and either.group_name = of_group.group_name
            and either.word = of_group.word
    left join words as of_reference
        on
            either.attribute = of_reference.attribute
            and either.reference_group = of_reference.group_name
            and either.word = of_reference.word
)

select
    attribute,
    group_name,
    reference_group,
    word,
    share,
    reference_share
from shares
order by attribute, group_name, reference_group, abs(share - reference_share) desc, word
