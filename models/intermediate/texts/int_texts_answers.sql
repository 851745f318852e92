with

texts_runs as (
    select
        run_id,
        reading -> 'texts' ->> 'language' as language
    from {{ ref("int_run_readings") }}
    where json_exists(reading, '$.texts')
),

prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        -- The language alone: en-GB is en.
        lower(coalesce(nullif(regexp_extract(prompts.language, '^[A-Za-z]+'), ''), texts_runs.language)) as language
    from {{ ref("stg_ledger__prompts") }} as prompts
    inner join texts_runs on prompts.run_id = texts_runs.run_id
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        response_hash,
        answer_text,
        weight
    from {{ ref("int_answers") }}
    where status = 'ok'
),

forms as (
    select distinct
        prompts.run_id,
        forms.kind,
        forms.term
    from {{ ref("address_forms") }} as forms
    inner join prompts on forms.language = prompts.language
),

hedges as (
    select bit_xor(hash(language, term)) as fingerprint
    from {{ ref("hedges") }}
),

labels as (
    select distinct
        run_id,
        unnest([group_name, carrier]) as label
    from {{ ref("stg_ledger__prompt_attributes") }}
),

words_of_labels as (
    select distinct
        run_id,
        unnest({{ words_of_label("label") }}) as word
    from labels
),

-- What names a group, or follows from whom the question is about, is no difference of the answers.
removed as (
    select
        words_of_labels.run_id,
        unnest({{ forms_of_word("words_of_labels.word") }}) as word
    from words_of_labels
    left join forms
        on
            words_of_labels.run_id = forms.run_id
            and words_of_labels.word = forms.term
            and forms.kind = 'function word'
    where forms.term is null
    union all by name
    select
        run_id,
        term as word
    from forms
    where kind <> 'function word'
),

removed_of_runs as (
    select
        run_id,
        list(distinct word) as words
    from removed
    group by run_id
),

described as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.response_hash,
        answers.weight,
        prompts.language,
        answers.answer_text,
        -- All that its manner depends on.
        {{ key_of([
            "prompts.language", "answers.answer_text", "hedges.fingerprint", "'" ~ var("engine_version") ~ "'"
        ]) }} as text_key,
        coalesce(removed_of_runs.words, []) as removed_words
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    left join removed_of_runs on answers.run_id = removed_of_runs.run_id
    cross join hedges
),

texts_answers as (
    select
        * exclude (removed_words),
        array_to_string(
            list_filter(
                {{ words_of("answer_text") }},
                lambda word: not list_contains(removed_words, regexp_replace(word, '''s?$', ''))
            ), ' '
        ) as words
    from described
)

select * from texts_answers
