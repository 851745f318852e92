-- Stereotype probes: what is asked, the words that count for or against a stereotype, and scores of classifiers.

create table raw.probes (
    markers_hash varchar not null,      -- 'sha256:…' of this table and of raw.markers together; analyses name it
    probe varchar not null,             -- the subject's name
    category varchar,                   -- the subject's domain
    target_group varchar,               -- whom the stereotype is about
    prompt varchar                      -- the question in the file's own words, before any name is swapped
);

create table raw.markers (
    markers_hash varchar not null,
    probe varchar,                      -- the subject it counts for; null with a category, or where it counts for all
    category varchar,                   -- all subjects of this domain; null with a probe, or where it counts for all
    list varchar not null,              -- counts are also given by list; the direction where the file names none
    direction varchar,                  -- stereotype, anti; null where the marker is counted only
    group_name varchar,                 -- the direction holds for answers about this group; null is for all
    kind varchar not null,              -- word, stem, phrase
    marker varchar not null             -- lower-case, white space single
);

create table raw.response_scores (
    run_id varchar not null,
    prompt_id varchar not null,
    trial integer not null,
    attempt integer not null,
    scorer varchar not null,            -- a classifier's name, or who labelled an imported file
    label varchar not null,             -- negative, neutral, positive, other, …
    score double not null,              -- 0 to 1; 1 for a label without a number
    is_short boolean not null,          -- under 20 characters, too short for a classifier
    scored_at timestamp not null
);
