with

answers as (
    select
        run_id,
        prompt_id,
        status,
        n
    from {{ ref("int_answers_counts") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation
    from {{ ref("stg_ledger__prompts") }}
),

counted as (
    select
        answers.run_id,
        prompts.mitigation,
        sum(answers.n) as n_answers,
        coalesce(sum(answers.n) filter (where answers.status = 'ok'), 0) as n_ok,
        coalesce(sum(answers.n) filter (where answers.status = 'refused'), 0) as n_refused,
        coalesce(sum(answers.n) filter (where answers.status = 'unread'), 0) as n_unread,
        coalesce(sum(answers.n) filter (where answers.status = 'malformed'), 0) as n_malformed,
        coalesce(sum(answers.n) filter (where answers.status in ('truncated', 'error')), 0) as n_failed
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    group by answers.run_id, prompts.mitigation
),

costs as (
    select
        run_id,
        cost_usd,
        n_completion_tokens
    from {{ ref("int_runs") }}
),

run_totals as (
    select
        run_id,
        sum(n_answers) as n_answers
    from counted
    group by run_id
),

-- Optional columns of a method.
said as (
    select
        run_id,
        mitigation,
        cast(null as double) as accuracy,
        cast(null as double) as n_assessed,
        cast(null as double) as shortfall,
        cast(null as double) as repeated,
        cast(null as double) as relevance
    from counted
    where false
    {% for method in methods(with_output="quality") %}
        union all by name
        select * from {{ ref("int_" ~ method ~ "_quality") }}
    {% endfor %}
),

-- Methods that read the same answers fill different columns.
qualities as (
    select
        run_id,
        mitigation,
        max(accuracy) as accuracy,
        max(n_assessed) as n_assessed,
        max(shortfall) as shortfall,
        max(repeated) as repeated,
        max(relevance) as relevance
    from said
    group by run_id, mitigation
),

measured as (
    select
        counted.run_id,
        counted.mitigation,
        counted.n_answers,
        counted.n_ok / counted.n_answers as share_ok,
        counted.n_refused / counted.n_answers as share_refused,
        counted.n_unread / counted.n_answers as share_unread,
        counted.n_malformed / counted.n_answers as share_malformed,
        counted.n_failed / counted.n_answers as share_failed,
        qualities.accuracy,
        qualities.n_assessed,
        qualities.shortfall,
        qualities.repeated,
        qualities.relevance,
        -- Tokens and costs are counted for a run as a whole.
        costs.n_completion_tokens / run_totals.n_answers as tokens_per_answer,
        costs.cost_usd / run_totals.n_answers as cost_usd_per_answer
    from counted
    inner join run_totals on counted.run_id = run_totals.run_id
    inner join costs on counted.run_id = costs.run_id
    left join qualities
        on
            counted.run_id = qualities.run_id
            and counted.mitigation = qualities.mitigation
),

imported as (
    {{ imported_rows("quality", {
        "run_id": "varchar", "mitigation": "varchar", "n_answers": "double", "share_ok": "double",
        "share_refused": "double", "share_unread": "double", "share_malformed": "double", "share_failed": "double",
        "accuracy": "double", "n_assessed": "bigint", "shortfall": "double", "repeated": "double", "relevance": "double",
        "tokens_per_answer": "double", "cost_usd_per_answer": "double",
    }) }}
),

run_quality as (
    select * from measured
    union all by name
    select * from imported
)

{{ contracted("run_quality") }}
