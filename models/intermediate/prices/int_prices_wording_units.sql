with

priced_items as (
    select
        run_id,
        prompt_id,
        sum(n) as n,
        sum(n * price_level order by price_level) as total
    from {{ ref("int_prices_items") }}
    where price_level is not null
    group by run_id, prompt_id
),

-- How far apart groups' mean prices lie is a gap of the two farthest apart.
prices as (
    select
        prompts.run_id,
        prompts.mitigation,
        unnest(['price_gap', 'price_spread']) as measure,
        'items' as scheme,
        '' as subject,
        prompts.attribute,
        prompts.group_name,
        prompts.prompt_id as unit,
        prompts.question as stratum,
        prompts.word as wording,
        cast(priced_items.n as double) as n,
        cast(priced_items.total as double) as total
    from {{ ref("int_prices_prompts") }} as prompts
    inner join priced_items
        on
            prompts.run_id = priced_items.run_id
            and prompts.prompt_id = priced_items.prompt_id
    where prompts.kind <> 'same'
)

select * from prices
