-- How each answer was read: the rule, the part of the reply that it read, the model's reasoning, and the language.

alter table raw.responses add column if not exists reasoning_text varchar;  -- the model's reasoning, which is kept and not judged
alter table raw.responses add column if not exists read_by varchar;         -- the rule that read the answer, or that found a refusal
alter table raw.responses add column if not exists read_text varchar;       -- the part of the reply that the rule read
alter table raw.responses add column if not exists answer_language varchar; -- ISO 639-1 code of the answer's language; null where too short to tell

create or replace view raw.kept_responses as
select * from raw.responses where run_id not in (select run_id from raw.retracted_runs);

-- Decisions that a second reader extracted from answers that no rule reads; of several for an answer the last one counts.
create or replace view raw.second_readings as
with listed as (
    select
        run_id,
        event_number,
        detail ->> '$.model' as model,
        unnest(
            from_json(
                detail -> '$.readings',
                '[{"prompt_id": "VARCHAR", "trial": "INTEGER", "attempt": "INTEGER", "decision": "VARCHAR"}]'
            )
        ) as reading
    from raw.kept_run_events
    where event = 'read'
)
select run_id, reading.prompt_id, reading.trial, reading.attempt, reading.decision, model
from listed
where reading.decision is not null
qualify
    row_number() over (
        partition by run_id, reading.prompt_id, reading.trial, reading.attempt order by event_number desc
    ) = 1;

-- Responses as they are read: what a second reader read never replaces what a rule read.
create or replace view raw.read_responses as
select
    responses.* replace (
        if(second_readings.decision is null, responses.status, 'ok') as status,
        coalesce(second_readings.decision, responses.answer_text) as answer_text,
        if(second_readings.decision is null, responses.read_by, 'second_reader') as read_by,
        if(second_readings.decision is null, responses.error, null) as error
    )
from raw.kept_responses as responses
left join raw.second_readings as second_readings
    on
        responses.run_id = second_readings.run_id
        and responses.prompt_id = second_readings.prompt_id
        and responses.trial = second_readings.trial
        and responses.attempt = second_readings.attempt
        and responses.status = 'unread'
        and responses.response_text is not null;
