with

items as (
    select
        run_id,
        prompt_id,
        categories,
        n
    from {{ ref("int_prices_items") }}
),

prices_runs as (
    select run_id
    from {{ ref("int_prices_runs") }}
),

-- A file may count the categories of an answer without telling its items apart.
counted_answers as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.weight,
        from_json(answers.answer_text -> 'categories', '[{"category": "VARCHAR", "n": "DOUBLE"}]') as categories,
        cast(answers.answer_text ->> 'n_items' as double) as n_items
    from {{ ref("int_answers") }} as answers
    inner join prices_runs on answers.run_id = prices_runs.run_id
    where
        answers.status = 'ok'
        and json_exists(answers.answer_text, '$.n_items')
),

categories_of_items as (
    select
        run_id,
        prompt_id,
        n,
        unnest(categories) as category
    from items
),

counted_categories as (
    select
        run_id,
        prompt_id,
        weight,
        unnest(categories) as counted
    from counted_answers
),

categories as (
    select
        run_id,
        prompt_id,
        category,
        n
    from categories_of_items
    union all by name
    select
        run_id,
        prompt_id,
        counted.category,
        weight * counted.n as n
    from counted_categories
    union all by name
    -- How many items there are, with or without a category.
    select
        run_id,
        prompt_id,
        cast(null as varchar) as category,
        n
    from items
    union all by name
    select
        run_id,
        prompt_id,
        cast(null as varchar) as category,
        weight * n_items as n
    from counted_answers
),

prompt_categories as (
    select
        run_id,
        prompt_id,
        category,
        sum(n) as n
    from categories
    group by run_id, prompt_id, category
)

select * from prompt_categories
