with

uses as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        unit_id,
        token,
        n_responses,
        n_occurrences
    from {{ ref("int_words_removed_uses") }}
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
        run_id,
        variant,
        attribute,
        group_name,
        sum(n_responses) as n_answers
    from {{ ref("int_words_unit_groups") }}
    group by run_id, variant, attribute, group_name
),

using_units as (
    select
        uses.run_id,
        uses.variant,
        uses.attribute,
        uses.group_name,
        uses.unit_id,
        terms.kind,
        any_value(uses.n_responses) as n_responses,
        sum(uses.n_occurrences) * any_value(uses.n_responses) as n_occurrences
    from uses
    inner join terms
        on
            uses.run_id = terms.run_id
            and uses.token = terms.token
    group by uses.run_id, uses.variant, uses.attribute, uses.group_name, uses.unit_id, terms.kind
),

counted as (
    select
        run_id,
        variant,
        attribute,
        group_name,
        kind,
        sum(n_responses) as n_answers_using,
        sum(n_occurrences) as n_occurrences
    from using_units
    group by run_id, variant, attribute, group_name, kind
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
            answers.run_id = counted.run_id
            and answers.variant = counted.variant
            and answers.attribute = counted.attribute
            and answers.group_name = counted.group_name
            and kinds.kind = counted.kind
)

{{ contracted("address_forms") }}
