-- Which row of an imported file an answer came from, and the columns of that row that the audit keeps.

alter table raw.responses add column source_row bigint; -- the row of the file, from 1; null where the answer was collected
alter table raw.responses add column kept varchar;      -- JSON: column of the file -> cell; null where none is kept

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
