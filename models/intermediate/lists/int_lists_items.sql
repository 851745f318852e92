{{
    config(
        materialized="incremental",
        incremental_strategy="append",
    )
}}

with

answers as (
    select
        list_key,
        any_value(response_hash) as response_hash,
        any_value(answer_text) as answer_text,
        any_value(scheme) as scheme
    from {{ ref("int_lists_answers") }}
    {% if is_incremental() %}
        where list_key not in (select distinct parsed.list_key from {{ this }} as parsed)
    {% endif %}
    group by list_key
),

responses as (
    select
        response_hash,
        any_value(response_text) as response_text
    from {{ ref("stg_ledger__responses") }}
    group by response_hash
),

parsed_lists as (
    select
        answers.list_key,
        -- The reference code reads whatever came back; ours reads what the collector took for a list.
        case answers.scheme
            {% for scheme in ["items", "reference"] %}
                when '{{ scheme }}' then {{ list_items(scheme, "answers.answer_text", "responses.response_text") }}
            {% endfor %}
        end as items,
        case when answers.scheme = 'items' then string_split(answers.answer_text, chr(10)) end as written_items
    from answers
    inner join responses on answers.response_hash = responses.response_hash
),

items as (
    select
        list_key,
        unnest(items) as item,
        unnest(written_items) as written_item,
        generate_subscripts(items, 1) as place
    from parsed_lists
)

select
    list_key,
    cast(place as integer) as place,
    item,
    coalesce(written_item, item) as written_item
from items
