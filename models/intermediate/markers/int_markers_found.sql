{{ config(materialized="by_run") }}

with

texts as (
    select
        answer_key,
        run_id,
        text_key,
        markers_hash,
        category,
        probe,
        answer_text
    from {{ run_rows("int_markers_texts") }}
    where markers_hash is not null
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

tokens as (
    select *
    from {{ run_rows("int_markers_tokens") }}
),

sought as (
    select distinct
        matched_as,
        needle,
        is_phrase
    from needles
),

-- Needles are sought among the different tokens once; texts are then joined by the tokens that hold one.
vocabulary as (
    select distinct
        cut,
        token
    from tokens
),

stem_lengths as (
    select distinct length(needle) as n_characters
    from sought
    where
        matched_as = 'stem'
        and not is_phrase
),

beginnings as (
    select
        vocabulary.token,
        left(vocabulary.token, stem_lengths.n_characters) as beginning
    from vocabulary
    inner join stem_lengths on length(vocabulary.token) >= stem_lengths.n_characters
    where vocabulary.cut = 'words'
),

tokens_of_needles as (
    select
        matched_as,
        needle,
        'words' as cut,
        needle as token
    from sought
    where
        matched_as = 'word'
        and not is_phrase
    union all by name
    select
        sought.matched_as,
        sought.needle,
        'words' as cut,
        beginnings.token
    from sought
    inner join beginnings on sought.needle = beginnings.beginning
    where sought.matched_as = 'stem'
    union all by name
    select
        sought.matched_as,
        sought.needle,
        vocabulary.cut,
        vocabulary.token
    from sought
    inner join vocabulary on contains(vocabulary.token, sought.needle)
    where
        sought.matched_as = 'substring'
        and not sought.is_phrase
        and vocabulary.cut = 'white_space'
),

-- A substring counts each token that holds it, as the reference script does.
found_in_tokens as (
    select
        tokens.text_key,
        tokens_of_needles.matched_as,
        tokens_of_needles.needle,
        sum(tokens.n_occurrences) as n_hits
    from tokens
    inner join tokens_of_needles
        on
            tokens.cut = tokens_of_needles.cut
            and tokens.token = tokens_of_needles.token
    group by tokens.text_key, tokens_of_needles.matched_as, tokens_of_needles.needle
),

-- No token holds a phrase. A phrase of words can only occur in a text with its longest whole word; the last word of a
-- stem may be longer, and both ends of a substring may.
whole_words as (
    select
        matched_as,
        needle,
        string_split(needle, ' ') as parts,
        unnest(if(matched_as = 'stem', parts[:-2], parts)) as whole_word
    from sought
    where
        is_phrase
        and matched_as <> 'substring'
),

anchored_phrases as (
    select
        matched_as,
        needle,
        arg_max(whole_word, length(whole_word)) as anchor
    from whole_words
    group by matched_as, needle
),

texts_with_anchor as (
    select
        anchored_phrases.matched_as,
        anchored_phrases.needle,
        -- A word has the blanks on both sides, a stem the one before it.
        concat(
            ' ', replace(anchored_phrases.needle, ' ', '  '), if(anchored_phrases.matched_as = 'stem', '', ' ')
        ) as phrase,
        'words' as cut,
        tokens.text_key
    from anchored_phrases
    inner join tokens on anchored_phrases.anchor = tokens.token
    where tokens.cut = 'words'
),

texts_for_substrings as (
    select distinct
        needles.matched_as,
        needles.needle,
        needles.needle as phrase,
        'white_space' as cut,
        texts.text_key
    from texts
    inner join schemes on texts.run_id = schemes.run_id
    inner join needles
        on
            texts.markers_hash = needles.markers_hash
            and schemes.scheme = needles.scheme
            and {{ marker_applies("needles", "texts") }}
    where
        needles.is_phrase
        and needles.matched_as = 'substring'
),

phrases as (
    select * from texts_with_anchor
    union all by name
    select * from texts_for_substrings
),

-- A list for each text, so that texts are not joined to every phrase.
phrases_of_texts as (
    select
        text_key,
        cut,
        list(
            {
                'matched_as': matched_as,
                'needle': needle,
                'phrase': phrase
            }
        ) as listed
    from phrases
    group by text_key, cut
),

answer_texts as (
    select
        text_key,
        any_value(answer_text) as answer_text
    from texts
    group by text_key
),

haystacks as (
    select
        phrases_of_texts.text_key,
        phrases_of_texts.listed,
        -- Only the branch of a row's own cut is evaluated.
        case phrases_of_texts.cut
            when 'words' then {{ padded_words("answer_texts.answer_text") }}
            else {{ joined_texts(white_space_tokens("answer_texts.answer_text"), " ") }}
        end as haystack
    from phrases_of_texts
    inner join answer_texts on phrases_of_texts.text_key = answer_texts.text_key
),

counted_phrases as (
    select
        text_key,
        unnest(
            list_transform(
                list_filter(listed, lambda one: contains(haystack, one.phrase)),
                lambda one: {
                    'matched_as': one.matched_as,
                    'needle': one.needle,
                    'n_hits':
                    (length(haystack) - length(replace(haystack, one.phrase, ''))) // length(one.phrase)
                }
            )
        ) as found_phrase
    from haystacks
),

found as (
    select * from found_in_tokens
    union all by name
    select
        text_key,
        found_phrase.matched_as,
        found_phrase.needle,
        found_phrase.n_hits
    from counted_phrases
),

-- Materialized: otherwise every row of markers would be joined to every text of its run first.
rows_found as materialized (
    select
        found.text_key,
        found.n_hits,
        needles.markers_hash,
        needles.scheme,
        needles.probe,
        needles.category,
        needles.marker
    from found
    inner join needles
        on
            found.matched_as = needles.matched_as
            and found.needle = needles.needle
),

-- Under `declared` a marker may be a word in one row and a stem in another: the wider kind holds. It may also be in
-- the table both for all probes and for one of them.
markers_found as (
    select
        texts.answer_key,
        texts.run_id,
        rows_found.scheme,
        rows_found.marker,
        cast(max(rows_found.n_hits) as bigint) as n_hits
    from rows_found
    inner join texts
        on
            rows_found.text_key = texts.text_key
            and rows_found.markers_hash = texts.markers_hash
            and {{ marker_applies("rows_found", "texts") }}
    inner join schemes
        on
            texts.run_id = schemes.run_id
            and rows_found.scheme = schemes.scheme
    group by texts.answer_key, texts.run_id, rows_found.scheme, rows_found.marker
)

select * from markers_found
