{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

runs as (
    select
        run_id,
        model_asked,
        is_simulated,
        started_at
    from {{ ref("stg_ledger__runs") }}
),

responses as (
    select
        run_id,
        prompt_tokens,
        completion_tokens
    from {{ ref("stg_ledger__responses") }}
),

started_runs as (
    select
        run_id,
        coalesce(json_extract_string(detail, '$.batch') = 'true', false) as is_batch
    from {{ ref("stg_ledger__run_events") }}
    where event = 'started'
),

prices as (
    select
        lower(model) as model,
        input_usd_per_million,
        output_usd_per_million,
        coalesce(batch_share, 1.0) as batch_share,
        from_date
    from {{ ref("model_prices") }}
),

-- Tries that failed or were asked again are paid for too.
token_counts as (
    select
        run_id,
        sum(prompt_tokens) as n_prompt_tokens,
        sum(completion_tokens) as n_completion_tokens
    from responses
    group by run_id
),

-- A model's own name comes before those of families, a longer family before a shorter; of its prices the latest holds.
ranked_prices as (
    select
        runs.run_id,
        prices.input_usd_per_million,
        prices.output_usd_per_million,
        prices.batch_share,
        row_number() over (
            partition by runs.run_id
            order by right(prices.model, 1) = '*' asc, length(prices.model) desc, prices.from_date desc
        ) as price_rank
    from runs
    inner join prices
        on
            prices.from_date <= cast(runs.started_at as date)
            and (
                prices.model = lower(runs.model_asked)
                or (
                    right(prices.model, 1) = '*'
                    and left(lower(runs.model_asked), length(prices.model) - 1)
                    = left(prices.model, length(prices.model) - 1)
                )
            )
),

run_prices as (
    select
        run_id,
        input_usd_per_million,
        output_usd_per_million,
        batch_share
    from ranked_prices
    where price_rank = 1
),

run_costs as (
    select
        runs.run_id,
        token_counts.n_prompt_tokens,
        token_counts.n_completion_tokens,
        case
            when runs.is_simulated then 0.0
            else (
                coalesce(token_counts.n_prompt_tokens, 0) * run_prices.input_usd_per_million
                + token_counts.n_completion_tokens * run_prices.output_usd_per_million
            )
            * case when started_runs.is_batch then run_prices.batch_share else 1.0 end
            / 1000000.0
        end as cost_usd
    from runs
    left join token_counts on runs.run_id = token_counts.run_id
    left join run_prices on runs.run_id = run_prices.run_id
    left join started_runs on runs.run_id = started_runs.run_id
)

select * from run_costs
