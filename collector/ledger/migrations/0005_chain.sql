-- Evidence: the hash chain over what was asked and answered, its seals, and what was erased from it.

create table raw.chain (
    run_id varchar not null,
    position bigint not null,           -- from 0, without a gap, within the run
    kind varchar not null,              -- run, analysis, prompt, response, event, erasure
    key varchar not null,               -- what the record is found by: a prompt's id, a response's prompt_id.trial.attempt, …
    extra json,                         -- what the record says beyond the columns of its table; null where that is nothing
    digest varchar not null,            -- 'sha256:…' over the record; texts that may be erased enter as their own hash
    hash varchar not null               -- 'sha256:…' over position, kind, digest and the hash before it
);

-- Runs of before chains were kept; every other run has one.
create table raw.unchained_runs as select run_id from raw.runs;

create table raw.seals (
    run_id varchar not null,
    n_records bigint not null,          -- how long the chain was
    head_hash varchar not null,         -- the hash of its last record
    sealed_at timestamp not null
);

create table raw.erasures (
    run_id varchar not null,
    prompt_id varchar not null,
    trial integer not null,
    attempt integer not null,
    texts json not null,                -- name of each erased text -> its 'sha256:…'
    reason varchar not null,
    erased_at timestamp not null
);
