with

uses as (
    select *
    from {{ ref("int_words_removed_uses") }}
    where word is not null
),

terms as (
    select distinct
        run_id,
        {{ token_of_term("term") }} as token,
        list_name as kind
    from {{ ref("int_words_terms") }}
    where why = 'address form'
),

kinds as (
    select distinct
        run_id,
        kind
    from terms
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

using_units as (
    select
        uses.group_key,
        terms.kind,
        any_value(uses.n_responses) as n_responses,
        sum(uses.n_occurrences) * any_value(uses.n_responses) as n_occurrences
    from uses
    inner join terms
        on
            uses.run_id = terms.run_id
            and uses.token = terms.token
    group by uses.group_key, uses.unit_id, terms.kind
),

counted as (
    select
        group_key,
        kind,
        sum(n_responses) as n_answers_using,
        sum(n_occurrences) as n_occurrences
    from using_units
    group by group_key, kind
),

address_forms as (
    select
        answers.*,
        kinds.kind,
        coalesce(counted.n_answers_using, 0) as n_answers_using,
        coalesce(counted.n_occurrences, 0) as n_occurrences,
        coalesce(counted.n_answers_using, 0) / answers.n_answers as share_using
    from answers
    inner join kinds on answers.run_id = kinds.run_id
    left join counted
        on
            answers.group_key = counted.group_key
            and kinds.kind = counted.kind
)

{{ contracted("address_forms") }}
