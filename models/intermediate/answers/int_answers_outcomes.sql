{{ config(materialized="by_run") }}

with

run_analysis_settings as (
    select
        run_id,
        coalesce(analysis ->> '$.answers.attempt', 'first') as judged_attempt
    from {{ ref("int_run_analysis_settings") }}
),

-- Attempts refused because of the rate do not count, because they do not depend on the question.
responses as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        status,
        weight,
        turn,
        coalesce(trial - turn, trial) as conversation,
        status = 'error' and coalesce(read_by, '') = 'rate_limit' as is_turned_away
    from {{ run_rows("stg_ledger__responses") }}
    where is_judged is not false
),

-- Erased answers count: without them the other group would seem refused more.
trials as (
    select
        run_id,
        prompt_id,
        trial,
        arg_max(status, attempt) as last_status,
        arg_max(weight, attempt) as weight,
        any_value(turn) as turn,
        any_value(conversation) as conversation,
        arg_min(status, attempt) filter (where not is_turned_away) as first_status,
        -- A failed connection is not related to the answer.
        arg_min(status, attempt) filter (where status <> 'error') as first_answer,
        count(*) filter (where not is_turned_away) > 1 as is_asked_again
    from responses
    group by run_id, prompt_id, trial
),

-- Later attempts do not change who got an answer at once.
judged as (
    select
        trials.run_id,
        trials.prompt_id,
        trials.trial,
        trials.last_status,
        trials.weight,
        trials.turn,
        trials.conversation,
        run_analysis_settings.judged_attempt = 'last' as is_last_judged,
        if(is_last_judged, nullif(trials.last_status, 'error'), trials.first_answer) as answer_status,
        if(is_last_judged, trials.last_status, coalesce(trials.first_status, 'error')) as call_status,
        trials.is_asked_again
    from trials
    inner join run_analysis_settings on trials.run_id = run_analysis_settings.run_id
),

outcomes as (
    select
        run_id,
        prompt_id,
        trial,
        last_status,
        turn,
        conversation,
        weight as n_asked,
        if(answer_status is null, 0, weight) as n,
        if(coalesce(answer_status = 'refused', false), weight, 0) as n_refused,
        if(coalesce(answer_status in ('malformed', 'unread', 'truncated'), false), weight, 0) as n_unusable,
        if(call_status = 'error', weight, 0) as n_failed,
        if(is_asked_again, weight, 0) as n_asked_again,
        if(is_asked_again and not is_last_judged, weight, 0) as n_first_of_several
    from judged
)

select * from outcomes
