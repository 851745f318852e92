with

second_readings as (
    select *
    from {{ ref("stg_ledger__second_readings") }}
),

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
        requested_at
    from {{ source("ledger", "responses") }}
),

-- A second reader never replaces what a rule read.
read_twice as (
    select
        responses.* replace (
            if(second_readings.decision is null, responses.status, 'ok') as status,
            coalesce(second_readings.decision, responses.answer_text) as answer_text,
            if(second_readings.decision is null, responses.read_by, 'second_reader') as read_by,
            if(second_readings.decision is null, responses.error, null) as error
        )
    from responses
    left join second_readings
        on
            responses.run_id = second_readings.run_id
            and responses.prompt_id = second_readings.prompt_id
            and responses.trial = second_readings.trial
            and responses.attempt = second_readings.attempt
            and responses.status = 'unread'
            and responses.response_text is not null
)

select * from read_twice
