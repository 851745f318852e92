with

run_states as (
    select
        run_id,
        run_state,
        evidence_state
    from {{ ref("int_run_states") }}
),

schemes as (
    select
        run_id,
        {{ fingerprint_of(["scheme", "is_judged"]) }} as fingerprint
    from {{ ref("int_words_schemes") }}
    group by run_id
),

terms as (
    select
        run_id,
        count(*) as n,
        {{ fingerprint_of([
            "term", "is_phrase", "why", "list_name", "attribute", "group_name",
        ]) }} as fingerprint
    from {{ ref("int_words_terms") }}
    group by run_id
),

phrases as (
    select
        run_id,
        phrases
    from {{ ref("int_words_phrases") }}
),

words_runs as (
    select
        run_states.run_id,
        {{ integer_key_of([
            "run_states.run_state", "schemes.fingerprint", "terms.n", "terms.fingerprint",
        ]) }} as run_state,
        -- Terms of one word are taken out of counts, not of texts.
        {{ integer_key_of([
            "run_states.evidence_state", "schemes.fingerprint", text_of_list("phrases.phrases"),
        ]) }} as texts_state
    from run_states
    inner join schemes on run_states.run_id = schemes.run_id
    left join terms on run_states.run_id = terms.run_id
    left join phrases on run_states.run_id = phrases.run_id
)

select * from words_runs
