with

uses as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        word,
        token,
        n_responses,
        n_occurrences
    from {{ ref("int_words_removed_uses") }}
),

terms as (
    select
        run_id,
        term,
        why,
        list_name,
        attribute,
        group_name
    from {{ ref("int_words_terms") }}
),

answers as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        sum(n_responses) as n_answers
    from {{ ref("int_words_unit_groups") }}
    group by run_id, variant, attribute, group_name
),

-- The first reason that holds: the audit's own list, the group's name, what carries it, a form of address.
reasons as (
    select
        run_id,
        {{ token_of_term("term") }} as token,
        first(why order by list_position(['list', 'label', 'carrier', 'address form'], why), list_name) as why,
        first(
            list_name order by list_position(['list', 'label', 'carrier', 'address form'], why), list_name
        ) as list_name,
        list_sort(
            list(distinct attribute || ': ' || group_name) filter (where group_name is not null)
        ) as named_groups
    from terms
    group by run_id, token
),

counted as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        word,
        min(token) as token,
        sum(n_occurrences * n_responses) as n_occurrences,
        sum(n_responses) as n_answers_using
    from uses
    group by run_id, variant, attribute, group_name, word
),

removed_words as (
    select
        cast(counted.run_id as varchar) as run_id,
        cast(counted.variant as varchar) as variant,
        cast(counted.attribute as varchar) as attribute,
        cast(counted.group_name as varchar) as group_name,
        cast(replace(counted.word, '_', ' ') as varchar) as word,
        cast(reasons.why as varchar) as why,
        cast(reasons.list_name as varchar) as list_name,
        cast(
            array_to_string(reasons.named_groups[:3], ', ')
            || if(len(reasons.named_groups) > 3, printf(' and %d more', len(reasons.named_groups) - 3), '') as varchar
        ) as named_groups,
        cast(counted.n_occurrences as double) as n_occurrences,
        cast(counted.n_answers_using as double) as n_answers_using,
        cast(answers.n_answers as double) as n_answers,
        cast(
            coalesce(
                list_contains(reasons.named_groups, counted.attribute || ': ' || counted.group_name), false
            ) as boolean
        ) as is_of_this_group
    from counted
    inner join reasons
        on
            counted.run_id = reasons.run_id
            and counted.token = reasons.token
    inner join answers
        on
            counted.run_id = answers.run_id
            and counted.variant = answers.variant
            and counted.attribute = answers.attribute
            and counted.group_name = answers.group_name
)

select * from removed_words
