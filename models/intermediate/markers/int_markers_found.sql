with

texts as (
    select
        run_id,
        prompt_id,
        response_hash,
        markers_hash,
        category,
        probe,
        answer_text,
        words
    from {{ ref("int_markers_texts") }}
),

schemes as (
    select
        run_id,
        scheme
    from {{ ref("int_markers_schemes") }}
),

needles as (
    select *
    from {{ ref("int_markers_needles") }}
),

found_in_words as (
    select distinct
        texts.run_id,
        texts.prompt_id,
        texts.response_hash,
        needles.scheme,
        needles.marker,
        (length(texts.words) - length(replace(texts.words, needles.needle, ''))) // length(needles.needle) as n_hits
    from texts
    inner join schemes on texts.run_id = schemes.run_id
    inner join needles
        on
            texts.markers_hash = needles.markers_hash
            and schemes.scheme = needles.scheme
            and {{ marker_applies("needles", "texts") }}
    where
        needles.matched_as <> 'substring'
        and contains(texts.words, needles.needle)
),

-- The reference script counts tokens between white space that hold a marker anywhere.
texts_in_tokens as (
    select
        texts.run_id,
        texts.prompt_id,
        texts.response_hash,
        texts.markers_hash,
        texts.category,
        texts.probe,
        unnest({{ white_space_tokens("texts.answer_text") }}) as token
    from texts
    inner join schemes on texts.run_id = schemes.run_id
    where schemes.scheme = 'substring'
),

token_counts as (
    select
        run_id,
        prompt_id,
        response_hash,
        markers_hash,
        category,
        probe,
        token,
        count(*) as n_hits
    from texts_in_tokens
    group by all
),

vocabulary as (
    select distinct
        markers_hash,
        token
    from token_counts
),

markers_in_tokens as (
    select
        vocabulary.markers_hash,
        vocabulary.token,
        needles.probe,
        needles.category,
        needles.scheme,
        needles.marker
    from vocabulary
    inner join needles on vocabulary.markers_hash = needles.markers_hash
    where
        needles.matched_as = 'substring'
        and contains(vocabulary.token, needles.needle)
),

-- A marker may stand in the table both for all probes and for one of them.
tokens_with_markers as (
    select distinct
        token_counts.run_id,
        token_counts.prompt_id,
        token_counts.response_hash,
        token_counts.token,
        token_counts.n_hits,
        markers_in_tokens.scheme,
        markers_in_tokens.marker
    from token_counts
    inner join markers_in_tokens
        on
            token_counts.markers_hash = markers_in_tokens.markers_hash
            and token_counts.token = markers_in_tokens.token
            and {{ marker_applies("markers_in_tokens", "token_counts") }}
),

found_in_tokens as (
    select
        run_id,
        prompt_id,
        response_hash,
        scheme,
        marker,
        sum(n_hits) as n_hits
    from tokens_with_markers
    group by run_id, prompt_id, response_hash, scheme, marker
),

found as (
    select * from found_in_words
    union all by name
    select * from found_in_tokens
),

-- Under `declared` a marker may be a word in one row and a stem in another: the wider kind holds.
markers_found as (
    select
        run_id,
        prompt_id,
        response_hash,
        scheme,
        marker,
        cast(max(n_hits) as bigint) as n_hits
    from found
    group by run_id, prompt_id, response_hash, scheme, marker
)

select * from markers_found
