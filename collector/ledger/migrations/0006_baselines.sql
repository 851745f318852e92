-- Baselines: which run later ones are compared with, and what was brought from elsewhere of a run that this ledger lacks.

create table raw.baselines (
    audit varchar not null,             -- with target, whose baseline it is; the latest row counts
    target varchar not null,
    run_id varchar,                     -- null: no baseline any more
    file_hash varchar,                  -- 'sha256:…' of the file it was imported from; null where the ledger holds the run
    manifest json,                      -- what the file says of its run: spec, analysis's hash, engine version, settings
    set_at timestamp not null
);

create table raw.baseline_rows (
    file_hash varchar not null,
    part varchar not null,              -- finding, quality, word_member, word_count, list_cell, selection, price
    content json not null               -- a row of the table that the part is named after; no text of any response
);
