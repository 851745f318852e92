-- How much did each run cost? Tokens and list prices, in all and for a thousand usable answers.
select
    run_id,
    audit,
    target,
    model_asked as model,
    started_at,
    n_responses as n_tries,
    n_ok as n_usable,
    n_prompt_tokens as tokens_asked,
    n_completion_tokens as tokens_answered,
    cost_usd,
    1000 * cost_usd / nullif(n_ok, 0) as cost_usd_per_thousand_usable,
    is_simulated
from {{ ref("dim_runs") }}
order by cost_usd desc nulls last, started_at desc, run_id asc
