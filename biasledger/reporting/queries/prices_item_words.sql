-- Words of the names of the items that each group gets, next to its reference group: those whose shares differ most.
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
qualify
    row_number() over (
        partition by attribute, group_name, reference_group order by abs(share - reference_share) desc, word
    ) <= 12
order by attribute, group_name, reference_group, share - reference_share desc, word
