with

response_scores as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        scorer,
        label,
        score,
        is_short,
        scored_at
    from {{ source("ledger", "response_scores") }}
),

-- A response that was scored again by the same scorer has its latest score.
latest_scores as (
    select *
    from response_scores
    qualify
        row_number() over (
            partition by run_id, prompt_id, trial, attempt, scorer, label order by scored_at desc
        ) = 1
)

select * from latest_scores
