-- Why a judge gave a grade.

alter table raw.response_scores add column reason varchar; -- in its own words; null where there is none, or it was erased

create or replace view raw.kept_response_scores as
select * from raw.response_scores where run_id not in (select run_id from raw.retracted_runs);
