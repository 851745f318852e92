-- The ledger's first schema: what was asked, of whom, and what came back.
-- Append-only: a correction is a new row. Large tables carry no index, so that imports of millions of rows stream;
-- their keys are checked before a row is written and again by the dbt quality tests.

create schema if not exists raw;

create table raw.runs (
    run_id varchar primary key,
    audit varchar not null,
    spec json not null,                 -- canonical JSON of what was asked (the analysis is kept apart, in raw.analysis_settings)
    spec_hash varchar not null,         -- 'sha256:…' of that JSON
    target varchar not null,            -- its name in targets.yml, or the name given to an import
    target_kind varchar not null,       -- openai, simulator, import, …
    is_simulated boolean not null,
    model_asked varchar,
    parameters json not null,
    answer_rules_version varchar not null,
    versions json not null,             -- biasledger, Python, DuckDB
    origin varchar not null,            -- collected or imported
    source_name varchar,                -- an import's file name
    source_hash varchar,                -- an import's 'sha256:…'
    started_at timestamp not null       -- UTC, as every timestamp here
);

create table raw.run_events (
    run_id varchar not null,
    event varchar not null,             -- started, resumed, finished, failed
    detail json not null,
    happened_at timestamp not null
);

create table raw.analysis_settings (
    audit varchar not null,
    analysis json not null,              -- canonical JSON: crossed attributes, schemes, terms to remove
    analysis_hash varchar not null,
    registered_at timestamp not null
);

create table raw.prompts (
    run_id varchar not null,
    prompt_id varchar not null,         -- first 16 hex digits of content_hash
    template varchar not null,
    language varchar not null,
    perturbation varchar,
    mitigation varchar not null,           -- 'plain', or a mitigation's name
    subject varchar,
    expected_label varchar,
    system_prompt varchar,
    prompt_text varchar,                -- null where an import does not know it
    content_hash varchar not null       -- over all of the above and the attributes, without run_id
);

create table raw.prompt_attributes (
    run_id varchar not null,
    prompt_id varchar not null,
    slot integer not null,              -- 1; two persons in a prompt are slots 1 and 2
    attribute varchar not null,
    group_name varchar not null,
    descriptor varchar not null
);

create table raw.responses (
    run_id varchar not null,
    prompt_id varchar not null,
    trial integer not null,
    attempt integer not null,           -- the last attempt of a trial is the one that counts
    seq bigint not null,                -- order within the run, from 1
    status varchar not null,            -- ok, malformed, refused, truncated, error
    response_text varchar,              -- what came back, unchanged
    answer_text varchar,                -- the words of the answer: of JSON its keys and values; null unless status is ok
    raw_body varchar,
    finish_reason varchar,
    model_answered varchar,
    prompt_tokens integer,
    completion_tokens integer,
    latency_ms double,
    error varchar,
    requested_at timestamp,
    weight double not null,             -- 1, or the count of identical answers in a counted import
    content_hash varchar not null       -- over prompt's content_hash, status and response_text: the same in every run
);
