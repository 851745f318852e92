{{ config(materialized="by_run") }}

with

answers as (
    select
        run_id,
        list_key,
        any_value(response_hash) as response_hash,
        any_value(answer_text) as answer_text,
        any_value(scheme) as scheme
    from {{ run_rows("int_lists_answers") }}
    group by run_id, list_key
),

responses as (
    select
        run_id,
        response_hash,
        any_value(response_text) as response_text
    from {{ run_rows("stg_ledger__responses") }}
    group by run_id, response_hash
),

parsed_lists as (
    select
        answers.run_id,
        answers.list_key,
        -- The reference code reads whatever came back; ours reads what the collector took for a list.
        case answers.scheme
            {% for scheme in ["items", "reference"] %}
                when '{{ scheme }}' then {{ list_items(scheme, "answers.answer_text", "responses.response_text") }}
            {% endfor %}
        end as items,
        case when answers.scheme = 'items' then string_split(answers.answer_text, chr(10)) end as written_items
    from answers
    inner join responses
        on
            answers.run_id = responses.run_id
            and answers.response_hash = responses.response_hash
),

items as (
    select
        run_id,
        list_key,
        unnest(items) as item,
        unnest(written_items) as written_item,
        generate_subscripts(items, 1) as place
    from parsed_lists
)

select
    run_id,
    list_key,
    cast(place as integer) as place,
    item,
    coalesce(written_item, item) as written_item
from items
