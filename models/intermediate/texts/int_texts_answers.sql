with

texts_runs as (
    select
        run_id,
        analysis ->> '$.texts.encoder.place' as encoder_place,
        analysis ->> '$.texts.encoder.hash' as encoder_hash
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.texts')
),

prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        texts_runs.encoder_place,
        texts_runs.encoder_hash,
        {{ language_alone("prompts.language") }} as language
    from {{ ref("stg_ledger__prompts") }} as prompts
    inner join texts_runs on prompts.run_id = texts_runs.run_id
),

answers as (
    select
        run_id,
        prompt_id,
        trial,
        conversation,
        response_hash,
        answer_text,
        weight
    from {{ ref("int_answers") }}
    where status = 'ok'
),

removed_of_runs as (
    select
        run_id,
        list(word) as words,
        list({{ phrase_of_term("word") }} order by length(word) desc, word asc)
        filter (where {{ is_unspaced("word") }}) as phrases
    from {{ ref("int_texts_removed_words") }}
    group by run_id
),

described as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.trial,
        answers.conversation,
        answers.response_hash,
        answers.weight,
        prompts.language,
        prompts.encoder_place,
        prompts.encoder_hash,
        answers.answer_text,
        {{ key_of(["answers.run_id", "prompts.language", "answers.answer_text"]) }} as text_key,
        coalesce(removed_of_runs.words, []) as removed_words,
        coalesce(removed_of_runs.phrases, []) as phrases
    from answers
    inner join prompts
        on
            answers.run_id = prompts.run_id
            and answers.prompt_id = prompts.prompt_id
    left join removed_of_runs on answers.run_id = removed_of_runs.run_id
),

texts_answers as (
    select
        * exclude (removed_words, phrases),
        if(encoder_hash is null, null, text_key) as vector_key,
        array_to_string(
            list_filter(
                if(
                    {{ is_unspaced("answer_text") }},
                    {{ tokens_of_words("answer_text", "phrases") }},  -- noqa
                    {{ words_of("answer_text") }}
                ),
                lambda word: not list_contains(removed_words, regexp_replace(word, '''s?$', ''))
            ), ' '
        ) as words
    from described
)

select * from texts_answers
