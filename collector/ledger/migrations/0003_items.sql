-- Recommended items: what a recommender may choose from. A changed catalogue is imported whole; its latest import counts.

create table raw.items (
    catalogue varchar not null,         -- its name; analyses name it
    catalogue_hash varchar not null,    -- 'sha256:…' over the content of all of its items
    item_id varchar not null,           -- as in the file, or made from place and name
    name varchar not null,              -- as written in the file
    price_level integer,                -- from 1, the cheapest; null where the file states none
    categories json not null,           -- a list of lower-case names, each once
    domain varchar,                     -- the city, or whatever an audit's subjects are divided by; null where the file states none
    imported_at timestamp not null      -- the same for all items of an import
);
