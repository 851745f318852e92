{{ config(materialized="by_run") }}

with

prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

prices_runs as (
    select
        run_id,
        k
    from {{ run_rows("int_prices_runs") }}
),

answers as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.status,
        answers.weight,
        -- An import of counts has no lists that could be short.
        coalesce(
            answers.has_text and json_array_length(answers.answer, '$.items') < prices_runs.k, false
        ) as is_short,
        coalesce(answers.weight * cast(answers.answer ->> 'n_items' as double), 0) as n_counted_items
    from {{ ref("int_prices_answers") }} as answers
    inner join prices_runs on answers.run_id = prices_runs.run_id
),

marked_items as (
    select
        *,
        item is not null and row_number() over (
            partition by run_id, prompt_id, trial, lower(item) order by place
        ) > 1 as is_repeated
    from {{ run_rows("int_prices_items") }}
),

items_of_answers as (
    select
        run_id,
        prompt_id,
        trial,
        sum(n) as n_items,
        sum(n) filter (where is_repeated) as n_repeated,
        sum(n) filter (where price_level is null) as n_unpriced,
        sum(n) filter (where not is_in_catalogue) as n_not_in_catalogue
    from marked_items
    group by run_id, prompt_id, trial
),

item_quality as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        sum(answers.weight) as n_answers,
        coalesce(sum(answers.weight) filter (where answers.status <> 'ok'), 0) as n_without_items,
        coalesce(sum(answers.weight) filter (where answers.status = 'ok' and answers.is_short), 0) as n_short,
        sum(answers.n_counted_items + coalesce(items_of_answers.n_items, 0)) as n_items,
        coalesce(sum(items_of_answers.n_repeated), 0) as n_repeated,
        coalesce(sum(items_of_answers.n_unpriced), 0) as n_unpriced,
        coalesce(sum(items_of_answers.n_not_in_catalogue), 0) as n_not_in_catalogue
    from answers
    inner join prompt_groups
        on
            answers.run_id = prompt_groups.run_id
            and answers.prompt_id = prompt_groups.prompt_id
    left join items_of_answers
        on
            answers.run_id = items_of_answers.run_id
            and answers.prompt_id = items_of_answers.prompt_id
            and answers.trial = items_of_answers.trial
    group by all
)

{{ contracted("item_quality") }}
