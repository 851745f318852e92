with

responses as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        seq,
        response_hash,
        status,
        answer_text,
        response_text is not null as has_text,
        model_answered,
        weight,
        requested_at
    from {{ ref("stg_ledger__responses") }}
),

-- Tries before the last are evidence, not answers.
last_attempts as (
    select *
    from responses
    qualify row_number() over (partition by run_id, prompt_id, trial order by attempt desc) = 1
),

-- An answer whose text was erased is none without content: it says nothing any more.
still_readable as (
    select *
    from last_attempts
    where status <> 'ok' or answer_text is not null
)

select * from still_readable
