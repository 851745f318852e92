{{ config(materialized="by_run") }}

with

prices_runs as (
    select *
    from {{ run_rows("int_prices_runs") }}
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        answer,
        has_text,
        weight
    from {{ run_rows("int_prices_answers") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        template,
        coalesce(domain, '') as domain
    from {{ run_rows("stg_ledger__prompts") }}
),

-- An item of a catalogue that covers several places is known by its name and its place.
catalogue_items as (
    select
        catalogue,
        lower(domain) as domain,
        {{ catalogue_name("item") }} as catalogue_name,
        min(price_level) as price_level,
        from_json(min(categories), '["VARCHAR"]') as categories
    from {{ ref("stg_ledger__items") }}
    group by catalogue, lower(domain), catalogue_name
),

written_items as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        prompts.mitigation,
        prompts.template,
        prompts.domain,
        answers.weight,
        answers.has_text,
        prices_runs.catalogue,
        prices_runs.n_levels,
        prices_runs.are_amounts,
        prices_runs.k,
        from_json(
            answers.answer -> 'items',
            '[{"name": "VARCHAR", "price_level": "INTEGER", "price": "DOUBLE", "currency": "VARCHAR",
            "categories": ["VARCHAR"], "n": "DOUBLE"}]'
        ) as items
    from answers
    inner join prices_runs on answers.run_id = prices_runs.run_id
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    where json_exists(answers.answer, '$.items')
),

placed_items as (
    select
        * exclude (items),
        unnest(items) as written,
        generate_subscripts(items, 1) as place
    from written_items
),

-- More items than were asked for would give an answer more weight; an import of counts has no places.
kept_items as (
    select
        *,
        {{ catalogue_name("written.name") }} as catalogue_name
    from placed_items
    where
        k is null
        or place <= k
        or not has_text
),

found_items as (
    select
        kept_items.run_id,
        kept_items.prompt_id,
        kept_items.trial,
        kept_items.place,
        kept_items.mitigation,
        kept_items.template,
        kept_items.domain,
        kept_items.written.name as item,
        coalesce(own.price_level, general.price_level, kept_items.written.price_level) as stated_level,
        if(kept_items.are_amounts, kept_items.written.price, null) as price,
        if(kept_items.are_amounts, kept_items.written.currency, null) as currency,
        list_sort(
            list_distinct(coalesce(own.categories, general.categories, kept_items.written.categories, []))
        ) as categories,
        kept_items.weight * kept_items.written.n as n,
        kept_items.n_levels,
        kept_items.are_amounts,
        case
            when kept_items.catalogue is not null
                then own.catalogue_name is not null or general.catalogue_name is not null
        end as is_in_catalogue
    from kept_items
    left join catalogue_items as own
        on
            kept_items.catalogue = own.catalogue
            and lower(kept_items.domain) = own.domain
            and kept_items.catalogue_name = own.catalogue_name
    left join catalogue_items as general
        on
            kept_items.catalogue = general.catalogue
            and general.domain is null
            and kept_items.catalogue_name = general.catalogue_name
),

-- Amounts in several currencies are not comparable: the one that most items have counts.
currency_counts as (
    select
        run_id,
        currency,
        sum(n order by prompt_id, trial, place) as n_items
    from found_items
    where
        price is not null
        and currency is not null
    group by run_id, currency
),

run_currencies as (
    select
        run_id,
        currency as run_currency
    from currency_counts
    qualify row_number() over (partition by run_id order by n_items desc, currency asc) = 1
),

priced_items as (
    select
        found_items.*,
        if(
            found_items.currency is null or found_items.currency = run_currencies.run_currency,
            found_items.price, null
        ) as comparable_price
    from found_items
    left join run_currencies on found_items.run_id = run_currencies.run_id
),

-- Level 1 is the cheapest 1/n_levels of the run's amounts; items of one price share a level.
items_of_price as (
    select
        run_id,
        n_levels,
        comparable_price,
        sum(n order by prompt_id, trial, place) as n_items
    from priced_items
    where comparable_price is not null
    group by run_id, n_levels, comparable_price
),

cheaper_items as (
    select
        *,
        sum(n_items) over (partition by run_id order by comparable_price) - n_items as n_cheaper,
        sum(n_items) over (partition by run_id) as n_priced
    from items_of_price
),

amount_levels as (
    select
        run_id,
        comparable_price,
        cast(1 + floor(n_levels * n_cheaper / n_priced + 1e-9) as integer) as amount_level
    from cheaper_items
),

levelled_items as (
    select
        priced_items.*,
        if(priced_items.are_amounts, amount_levels.amount_level, priced_items.stated_level) as price_level
    from priced_items
    left join amount_levels
        on
            priced_items.run_id = amount_levels.run_id
            and priced_items.comparable_price = amount_levels.comparable_price
)

select
    * exclude (n_levels, are_amounts, stated_level, comparable_price, price_level),
    -- A level that the audit does not know is no level.
    case when price_level between 1 and n_levels then price_level end as price_level
from levelled_items
