-- Which prompts share a cluster, and the block inside which labels of groups move; both are part of a prompt's identity.

alter table raw.prompts add column cluster varchar; -- a conversation, a customer, …; null where none is named
alter table raw.prompts add column block varchar;   -- a judge, a day, …; null where none is named

create or replace view raw.kept_prompts as
select * from raw.prompts where run_id not in (select run_id from raw.retracted_runs);
