{{ config(materialized="by_run") }}

with

answers as (
    select
        run_id,
        prompt_id,
        response_hash,
        -- Identical texts never lie on both sides of a cross-validation split, whichever prompt they answer.
        {{ integer_key_of(["answer_text"]) }} as text_key,
        weight,
        seq
    from {{ run_rows("int_answers") }}
    where status = 'ok'
),

people_asked_about as (
    select
        run_id,
        prompt_id,
        string_agg(
            concat_ws('=', slot, attribute, group_name, descriptor), '; ' order by slot asc, attribute asc
        ) as people
    from {{ ref("stg_ledger__prompt_attributes") }}
    group by run_id, prompt_id
),

asked_prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        prompts.prompt_hash,
        prompts.mitigation,
        {{ key_of([
            "prompts.template", "prompts.language", "prompts.perturbation", "prompts.subject",
            "people_asked_about.people",
        ]) }} as asked
    from {{ ref("stg_ledger__prompts") }} as prompts
    left join people_asked_about
        on
            prompts.run_id = people_asked_about.run_id
            and prompts.prompt_id = people_asked_about.prompt_id
),

-- The same question in every run and under every mitigation, whose words are others. Prompts of a file may differ in
-- nothing but their text.
prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        asked || '-' || dense_rank() over (partition by run_id, mitigation, asked order by prompt_hash) as question
    from asked_prompts
),

words_schemes as (
    {{ schemes_of_runs() }}
),

phrase_terms as (
    select distinct
        run_id,
        term
    from {{ ref("int_words_terms") }}
    where is_phrase
    union
    -- 其他 is another one, though 他 is he: cut out first, it stays a word.
    select
        runs.run_id,
        function_words.term
    from {{ ref("address_forms") }} as function_words
    cross join {{ ref("int_run_analysis_settings") }} as runs
    where function_words.kind = 'function word' and {{ is_unspaced("function_words.term") }}
),

-- Longest first, so that a phrase inside another does not spoil it; words are separated by two blanks here.
phrases as (
    select
        run_id,
        list({{ phrase_of_term("term") }} order by length(term) desc, term asc) as phrases
    from phrase_terms
    group by run_id
),

-- A row a distinct answer to a prompt, so that its words are counted once; every repeat of it is an observation
-- nevertheless.
distinct_answers as (
    select
        run_id,
        prompt_id,
        response_hash,
        any_value(text_key) as text_key,
        sum(weight) as n_responses,
        min(seq) as first_seq
    from answers
    group by run_id, prompt_id, response_hash
),

words_units as (
    select
        cast(
            row_number() over (
                partition by distinct_answers.run_id
                order by
                    prompts.mitigation,
                    words_schemes.scheme,
                    distinct_answers.response_hash,
                    distinct_answers.prompt_id
            ) - 1 as integer
        ) as unit_id,
        -- An answer of a run and its words in a scheme, whichever prompts it answers.
        {{ integer_key_of([
            "distinct_answers.run_id", "distinct_answers.response_hash", "words_schemes.scheme",
        ]) }} as unit_key,
        distinct_answers.run_id,
        prompts.mitigation,
        words_schemes.scheme,
        words_schemes.is_judged,
        distinct_answers.prompt_id,
        prompts.question,
        distinct_answers.response_hash,
        distinct_answers.text_key,
        coalesce(phrases.phrases, []) as phrases,
        distinct_answers.n_responses,
        distinct_answers.first_seq
    from distinct_answers
    inner join prompts
        on
            distinct_answers.run_id = prompts.run_id
            and distinct_answers.prompt_id = prompts.prompt_id
    inner join words_schemes on distinct_answers.run_id = words_schemes.run_id
    left join phrases
        on
            distinct_answers.run_id = phrases.run_id
            and words_schemes.scheme = 'words'
)

select * from words_units
