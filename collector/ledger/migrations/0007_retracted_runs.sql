-- Runs that were taken back. Their evidence stays, chained and sealed; whatever reads answers reads the views, which leave them out.
-- A migration that gives one of these tables another column has to make its view anew.

create view raw.retracted_runs as
select
    run_id,
    max(happened_at) as retracted_at,
    arg_max(detail ->> '$.reason', happened_at) as reason
from raw.run_events
where event = 'retracted'
group by run_id;

create view raw.kept_runs as
select * from raw.runs where run_id not in (select run_id from raw.retracted_runs);

-- event_number: the order in which events were kept, from 0.
create view raw.kept_run_events as
select *, rowid as event_number from raw.run_events where run_id not in (select run_id from raw.retracted_runs);

create view raw.kept_prompts as
select * from raw.prompts where run_id not in (select run_id from raw.retracted_runs);

create view raw.kept_prompt_attributes as
select * from raw.prompt_attributes where run_id not in (select run_id from raw.retracted_runs);

create view raw.kept_responses as
select * from raw.responses where run_id not in (select run_id from raw.retracted_runs);

create view raw.kept_response_scores as
select * from raw.response_scores where run_id not in (select run_id from raw.retracted_runs);
