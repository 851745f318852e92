with

phrase_terms as (
    select distinct
        run_id,
        term
    from {{ ref("int_words_terms") }}
    where is_phrase
),

words_phrases as (
    select
        run_id,
        -- Longest first, so that a phrase inside another does not spoil it; words stand apart by two blanks here.
        list(' ' || replace(term, ' ', '  ') || ' ' order by length(term) desc, term asc) as phrases
    from phrase_terms
    group by run_id
)

select * from words_phrases
