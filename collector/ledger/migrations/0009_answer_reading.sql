-- How each answer was read: the rule, the part of the reply that it read, the model's reasoning, and the language.

alter table raw.responses add column if not exists reasoning_text varchar;  -- the model's reasoning, which is kept and not judged
alter table raw.responses add column if not exists read_by varchar;         -- the rule that read the answer, or that found a refusal
alter table raw.responses add column if not exists read_text varchar;       -- the part of the reply that the rule read
alter table raw.responses add column if not exists answer_language varchar; -- ISO 639-1 code of the answer's language; null where too short to tell

create or replace view raw.kept_responses as
select * from raw.responses where run_id not in (select run_id from raw.forgotten_runs);

-- How often a second reader decided as the rules did on answers that these read. Its decisions are used from this agreement on.
create or replace view raw.second_readers as
with checked as (
    select
        run_id,
        detail ->> '$.model' as model,
        detail ->> '$.prompt_hash' as prompt_hash,
        cast(sum(cast(detail ->> '$.n_checked' as bigint)) as bigint) as n_checked,
        cast(sum(cast(detail ->> '$.n_agreed' as bigint)) as bigint) as n_agreed,
        20 as n_checked_needed,
        0.9 as agreement_needed
    from raw.kept_run_events
    where event = 'read'
    group by run_id, model, prompt_hash
)
select *, n_checked >= n_checked_needed and n_agreed >= agreement_needed * n_checked as is_used
from checked;

-- Decisions that second readers extracted from answers that no rule reads. The last reader counts, also where it found no decision.
create or replace view raw.second_readings as
with listed as (
    select
        run_id,
        event_number,
        detail ->> '$.model' as model,
        detail ->> '$.prompt_hash' as prompt_hash,
        unnest(
            from_json(
                detail -> '$.readings',
                '[{"prompt_id": "VARCHAR", "trial": "INTEGER", "attempt": "INTEGER", "decision": "VARCHAR"}]'
            )
        ) as reading
    from raw.kept_run_events
    where event = 'read'
),
last_readings as (
    select
        listed.run_id,
        reading.prompt_id,
        reading.trial,
        reading.attempt,
        reading.decision,
        listed.model,
        listed.prompt_hash
    from listed
    inner join raw.second_readers as second_readers
        on
            listed.run_id = second_readers.run_id
            and listed.model = second_readers.model
            and listed.prompt_hash = second_readers.prompt_hash
    where second_readers.is_used
    qualify
        row_number() over (
            partition by listed.run_id, reading.prompt_id, reading.trial, reading.attempt
            order by listed.event_number desc
        ) = 1
)
select * from last_readings where decision is not null;

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
