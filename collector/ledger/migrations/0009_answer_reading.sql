-- How each answer was read: the rule, the part of the reply that it read, the model's reasoning, and the language.

alter table raw.responses add column reasoning_text varchar;  -- the model's reasoning, which is kept and not judged
alter table raw.responses add column read_by varchar;         -- the rule that read the answer, or that found a refusal
alter table raw.responses add column read_text varchar;       -- the part of the reply that the rule read
alter table raw.responses add column answer_language varchar; -- ISO 639-1 code of the answer's language; null where too short to tell

create or replace view raw.kept_responses as
select * from raw.responses where run_id not in (select run_id from raw.forgotten_runs);
