-- A conversation is one prompt; each of its answers is a response of its own: answer k of the n-th of t turns is trial (n - 1) * t + k.

alter table raw.prompts add column turns varchar;         -- JSON: judge and messages, each a role and a text; null for one question
alter table raw.responses add column turn integer;        -- which answer of the conversation, from 1; null for one question
alter table raw.responses add column is_judged boolean;   -- false for an answer that is only fed back; null for one question

create or replace view raw.kept_prompts as
select * from raw.prompts where run_id not in (select run_id from raw.retracted_runs);

create or replace view raw.kept_responses as
select * from raw.responses where run_id not in (select run_id from raw.retracted_runs);

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
