-- Tokens and cost of each run at list prices, the dearest first.
select
    run_id,
    audit,
    target,
    strftime(dim_runs.started_at, '%Y-%m-%d %H:%M') as started_at,
    n_responses,
    n_prompt_tokens,
    n_completion_tokens,
    cost_usd
from marts.dim_runs
where list_contains($run_ids, run_id)
order by cost_usd desc nulls last, dim_runs.started_at, run_id
