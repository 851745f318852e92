with

responses as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        seq,
        content_hash as response_hash,
        status,
        response_text,
        answer_text,
        finish_reason,
        model_answered,
        error,
        prompt_tokens,
        completion_tokens,
        latency_ms,
        weight,
        reasoning_text,
        read_by,
        read_text,
        answer_language,
        source_row,
        kept,
        turn,
        is_judged,
        requested_at
    from {{ source("ledger", "responses") }}
)

select * from responses
