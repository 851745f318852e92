-- Recommendation lists: prompts about the subjects of several domains, and what was relevant for each subject.

alter table raw.prompts add column domain varchar;   -- movies, music, …; null where an audit's subjects have none

create table raw.relevance (
    relevance_hash varchar not null,    -- 'sha256:…' of the whole table; analyses name it
    subject varchar not null,
    domain varchar,
    item varchar not null,              -- as written in the file; the warehouse normalises it like an answer's items
    grade double not null               -- above 0; larger is more relevant
);
