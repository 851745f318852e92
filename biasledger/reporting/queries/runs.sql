-- The runs, the latest of each audit and target first.
select
    run_id,
    audit,
    target,
    target_kind,
    model_asked,
    origin,
    source_name,
    last_event,
    n_prompts,
    n_responses,
    n_ok,
    n_prompt_tokens,
    n_completion_tokens,
    cost_usd,
    is_simulated,
    is_current,
    strftime(started_at, '%Y-%m-%d %H:%M') as started_at
from marts.dim_runs
order by is_current desc, audit, target, dim_runs.started_at desc, run_id
