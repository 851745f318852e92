with

uses as (
    select *
    from {{ ref("int_words_removed_uses") }}
    where word is not null
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
        group_key,
        run_id,
        mitigation,
        attribute,
        group_name,
        sum(n_responses) as n_answers
    from {{ ref("int_words_removed_uses") }}
    where word is null
    group by group_key, run_id, mitigation, attribute, group_name
),

-- The first reason that holds: the audit's own list, the group's name, what carries it, a form of address.
reasons as (
    select
        run_id,
        {{ token_of_term("term") }} as token,
        first(why order by list_position(['list', 'label', 'descriptor', 'address form'], why), list_name) as why,
        first(
            list_name order by list_position(['list', 'label', 'descriptor', 'address form'], why), list_name
        ) as list_name,
        list_sort(
            list(distinct attribute || ': ' || group_name) filter (where group_name is not null)
        ) as named_groups
    from terms
    group by run_id, token
),

counted as (
    select
        group_key,
        word,
        min(token) as token,
        sum(n_occurrences * n_responses) as n_occurrences,
        sum(n_responses) as n_answers_using
    from uses
    group by group_key, word
),

removed_words as (
    select
        answers.*,
        replace(counted.word, '_', ' ') as word,
        counted.n_occurrences,
        counted.n_answers_using,
        reasons.why,
        reasons.list_name,
        array_to_string(reasons.named_groups[:3], ', ')
        || if(len(reasons.named_groups) > 3, printf(' and %d more', len(reasons.named_groups) - 3), '') as named_groups,
        coalesce(
            list_contains(reasons.named_groups, answers.attribute || ': ' || answers.group_name), false
        ) as is_of_this_group
    from counted
    inner join answers on counted.group_key = answers.group_key
    inner join reasons
        on
            answers.run_id = reasons.run_id
            and counted.token = reasons.token
)

{{ contracted("removed_words") }}
