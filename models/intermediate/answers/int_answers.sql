-- A view, because a table would copy all texts.
{{ config(materialized="view") }}

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
        reasoning_text,
        response_text is not null as has_text,
        model_answered,
        weight,
        read_by,
        answer_language,
        turn,
        coalesce(trial - turn, trial) as conversation,
        requested_at
    from {{ ref("stg_ledger__responses") }}
    where is_judged is not false
),

-- Earlier attempts are not answers.
last_attempts as (
    select
        run_id,
        prompt_id,
        trial,
        max(attempt) as attempt
    from {{ ref("stg_ledger__responses") }}
    group by run_id, prompt_id, trial
),

runs_with_reasoning as (
    select run_id
    from {{ ref("int_run_analysis_settings") }}
    where coalesce(cast(analysis ->> 'include_reasoning' as boolean), false)
),

-- Leave out erased answers; they are not empty answers.
still_readable as (
    select
        responses.* replace (
            if(
                runs_with_reasoning.run_id is null or responses.reasoning_text is null,
                responses.answer_text, responses.reasoning_text || chr(10) || responses.answer_text
            ) as answer_text
        )
    from responses
    left join runs_with_reasoning on responses.run_id = runs_with_reasoning.run_id
    inner join last_attempts
        on
            responses.run_id = last_attempts.run_id
            and responses.prompt_id = last_attempts.prompt_id
            and responses.trial = last_attempts.trial
            and responses.attempt = last_attempts.attempt
    where responses.status <> 'ok' or responses.answer_text is not null
)

select * exclude (reasoning_text)
from still_readable
