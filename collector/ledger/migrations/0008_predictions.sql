-- What a recommender predicted of held-out texts, and how many texts there are about each item of a catalogue.

alter table raw.items add column n_reviews bigint;  -- null where the file does not say

create table raw.predictions (
    recommender varchar not null,       -- its name; its latest import counts
    predictions_hash varchar not null,  -- 'sha256:…' over the content of all of its rows
    city varchar not null,              -- where the venues are; (all) for a recommender of all cities
    review_id varchar not null,         -- a held-out text; the text itself is not kept
    user_id varchar not null,           -- who wrote it: intervals draw users
    business_id varchar not null,       -- what it is about
    predicted_business_id varchar not null, -- the venue that is named first
    rank double,                        -- of what it is about, from 1; null where the recommender cannot name it
    popularity_rank double,             -- likewise, in an order by the number of training texts
    category_precision_at_5 double,     -- measures of this text's ranking, where a venue is right that shares a category; null
    category_precision_at_10 double,    -- where none does
    category_precision_at_20 double,
    category_r_precision double,
    category_map double,
    category_mrr double,
    category_ndcg double,
    imported_at timestamp not null      -- the same for all rows of an import
);
