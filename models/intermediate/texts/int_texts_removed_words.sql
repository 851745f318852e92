with

runs as (
    select run_id
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.texts')
),

languages as (
    select distinct
        prompts.run_id,
        {{ language_alone("prompts.language") }} as language
    from {{ ref("stg_ledger__prompts") }} as prompts
    inner join runs on prompts.run_id = runs.run_id
),

forms as (
    select distinct
        languages.run_id,
        forms.kind,
        forms.term
    from {{ ref("address_forms") }} as forms
    inner join languages on forms.language = languages.language
),

labels as (
    select distinct
        attributes.run_id,
        unnest([attributes.group_name, attributes.descriptor]) as label
    from {{ ref("stg_ledger__prompt_attributes") }} as attributes
    inner join runs on attributes.run_id = runs.run_id
),

words_of_labels as (
    select distinct
        run_id,
        unnest({{ words_of_label("label") }}) as word
    from labels
),

removed_words as (
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
    union
    select
        run_id,
        term as word
    from forms
    where kind <> 'function word'
)

select * from removed_words
