{{ config(materialized="by_run") }}

with

items as (
    select
        run_id,
        prompt_id,
        trial,
        place,
        categories,
        n
    from {{ run_rows("int_prices_items") }}
),

prices_runs as (
    select
        run_id,
        category_sets
    from {{ run_rows("int_prices_runs") }}
),

named_sets as (
    select
        run_id,
        category_sets,
        unnest(json_keys(category_sets)) as category_set
    from prices_runs
    where category_sets is not null
),

category_sets as (
    select
        run_id,
        category_set,
        from_json(json_extract(category_sets, '$."' || category_set || '"'), '["VARCHAR"]') as members
    from named_sets
),

-- A file may count the categories of an answer without telling its items apart.
counted_answers as (
    select
        run_id,
        prompt_id,
        trial,
        weight,
        from_json(answer -> 'categories', '[{"category": "VARCHAR", "n": "DOUBLE"}]') as categories,
        cast(answer ->> 'n_items' as double) as n_items
    from {{ run_rows("int_prices_answers") }}
    where json_exists(answer, '$.n_items')
),

categories_of_items as (
    select
        run_id,
        prompt_id,
        trial,
        place,
        n,
        unnest(categories) as category
    from items
),

counted_categories as (
    select
        run_id,
        prompt_id,
        trial,
        weight,
        unnest(categories) as counted,
        generate_subscripts(categories, 1) as place
    from counted_answers
),

categories as (
    select
        run_id,
        prompt_id,
        trial,
        place,
        category,
        n
    from categories_of_items
    union all by name
    select
        run_id,
        prompt_id,
        trial,
        place,
        counted.category,
        weight * counted.n as n
    from counted_categories
    union all by name
    -- A set of categories counts an item once, however many of them it carries.
    select
        items.run_id,
        items.prompt_id,
        items.trial,
        items.place,
        '(' || category_sets.category_set || ')' as category,
        items.n
    from items
    inner join category_sets
        on
            items.run_id = category_sets.run_id
            and list_has_any(items.categories, category_sets.members)
    union all by name
    -- How many items there are, with or without a category.
    select
        run_id,
        prompt_id,
        trial,
        place,
        cast(null as varchar) as category,
        n
    from items
    union all by name
    select
        run_id,
        prompt_id,
        trial,
        0 as place,
        cast(null as varchar) as category,
        weight * n_items as n
    from counted_answers
),

prompt_categories as (
    select
        categories.run_id,
        categories.prompt_id,
        categories.category,
        sum(categories.n order by categories.trial, categories.place) as n
    from categories
    inner join prices_runs on categories.run_id = prices_runs.run_id
    group by categories.run_id, categories.prompt_id, categories.category
)

select * from prompt_categories
