with

run_analysis_settings as (
    select
        run_id,
        analysis -> 'words' as analysis
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.words')
),

runs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
),

prompts as (
    select
        run_id,
        prompt_id,
        -- The language alone: en-GB is en.
        lower(regexp_extract(language, '^[A-Za-z]+')) as language
    from {{ ref("stg_ledger__prompts") }}
),

prompt_attributes as (
    select
        run_id,
        attribute,
        group_name,
        descriptor
    from {{ ref("stg_ledger__prompt_attributes") }}
),

forms as (
    select
        language,
        kind,
        term
    from {{ ref("address_forms") }}
),

-- Declared texts of a group are removed unless the analysis says `remove: none`.
own_runs as (
    select run_id
    from run_analysis_settings
    where coalesce(cast(analysis ->> 'unasked' as boolean), true)
),

kept_terms as (
    select
        run_id,
        unnest(from_json(analysis -> 'keep', '["VARCHAR"]')) as term
    from run_analysis_settings
),

listed_terms as (
    select
        run_id,
        unnest(from_json(analysis -> 'terms', '[{"list": "VARCHAR", "term": "VARCHAR"}]')) as listed
    from run_analysis_settings
),

-- Words that agree with a descriptor ("from {country}") are in the prompt, too.
spec_attributes as (
    select
        runs.run_id,
        unnest(
            from_json(
                runs.spec -> 'attributes',
                '[{"attribute": "VARCHAR", '
                || '"groups": [{"group": "VARCHAR", "agreements": "MAP(VARCHAR, MAP(VARCHAR, VARCHAR))"}]}]'
            ),
            recursive := false
        ) as declared
    from runs
    inner join own_runs on runs.run_id = own_runs.run_id
),

spec_groups as (
    select
        run_id,
        declared.attribute,
        unnest(declared.groups, recursive := false) as declared_group
    from spec_attributes
),

agreements as (
    select
        run_id,
        attribute,
        declared_group.group as group_name,
        unnest(flatten(list_transform(map_values(declared_group.agreements), lambda words: map_values(words)))) as text
    from spec_groups
),

languages as (
    select distinct
        prompts.run_id,
        prompts.language
    from prompts
    inner join own_runs on prompts.run_id = own_runs.run_id
),

written as (
    select distinct
        prompt_attributes.run_id,
        prompt_attributes.attribute,
        prompt_attributes.group_name,
        source.why,
        if(source.why = 'label', prompt_attributes.group_name, prompt_attributes.descriptor) as text
    from prompt_attributes
    inner join own_runs on prompt_attributes.run_id = own_runs.run_id
    cross join (values ('label'), ('descriptor')) as source (why)
    union by name
    select
        run_id,
        attribute,
        group_name,
        'agreement' as why,
        text
    from agreements
),

split_texts as (
    select
        *,
        {{ words_of_label("text") }} as words,
        count(distinct text) over (partition by run_id, attribute, why) as n_texts
    from written
),

words_of_texts as (
    select
        *,
        unnest(words) as word
    from split_texts
),

-- Words that every text of an attribute has ("a fan of …") do not identify a group.
text_words as (
    select
        *,
        n_texts > 1 and n_texts = count(distinct text) over (partition by run_id, attribute, why, word) as is_shared
    from words_of_texts
),

known_words as (
    select
        languages.run_id,
        forms.term as word,
        bool_or(forms.kind = 'function word') as is_function_word
    from forms
    inner join languages on forms.language = languages.language
    group by languages.run_id, forms.term
),

revealing_words as (
    select
        text_words.* replace (if(text_words.why = 'agreement', 'descriptor', text_words.why) as why),
        case
            -- Agreeing words may be verbs (is, are), or pronouns, which are removed as forms of address.
            when text_words.why = 'agreement' then not text_words.is_shared and known_words.word is null
            -- A label or descriptor of one word is always removed.
            else
                len(text_words.words) = 1
                or not (text_words.is_shared or coalesce(known_words.is_function_word, false))
        end as is_revealing
    from text_words
    left join known_words
        on
            text_words.run_id = known_words.run_id
            and text_words.word = known_words.word
),

-- A word of a label or name leaks in all its forms, and the parts of a compound by themselves.
own_words as (
    select
        run_id,
        why,
        cast(null as varchar) as list_name,
        attribute,
        group_name,
        unnest(
            list_distinct(
                flatten(
                    list_transform(
                        [word] || list_filter(string_split(word, '-'), lambda part: length(part) > 2),
                        lambda part: {{ forms_of_word("part") }}
                    )
                )
            )
        ) as term
    from revealing_words
    where is_revealing
),

-- A text that holds other words, too ("a person of colour"), is cut as a whole as well.
own_phrases as (
    select
        run_id,
        why,
        cast(null as varchar) as list_name,
        attribute,
        group_name,
        unnest(list_distinct([phrase, phrase || 's', replace(phrase, 'person', 'people')])) as term
    from (
        select
            run_id,
            why,
            attribute,
            group_name,
            array_to_string(if({{ is_article("words[1]") }}, words[2:], words), ' ') as phrase
        from revealing_words
        group by run_id, why, attribute, group_name, text, words
        having bool_or(is_revealing) and not bool_and(is_revealing or {{ is_article("word") }})
    )
    where contains(phrase, ' ')
),

address_terms as (
    select
        languages.run_id,
        'address form' as why,
        forms.kind as list_name,
        cast(null as varchar) as attribute,
        cast(null as varchar) as group_name,
        forms.term
    from forms
    inner join languages on forms.language = languages.language
    where forms.kind <> 'function word'
),

all_terms as (
    select * from own_words
    union all by name
    select * from own_phrases
    union all by name
    select * from address_terms
    union all by name
    select
        run_id,
        'list' as why,
        listed.list as list_name,
        cast(null as varchar) as attribute,
        cast(null as varchar) as group_name,
        replace(lower(listed.term), '’', '''') as term
    from listed_terms
),

words_terms as (
    select distinct
        all_terms.*,
        -- Terms of several words, and of letters without spaces, become one token of the text; single words are left
        -- out where features are made.
        contains(trim(all_terms.term), ' ') or {{ is_unspaced("all_terms.term") }} as is_phrase
    from all_terms
    left join kept_terms
        on
            all_terms.run_id = kept_terms.run_id
            and all_terms.term = kept_terms.term
    -- Exempted words are exempt from automatic terms only, not from the audit's own lists.
    where kept_terms.term is null or all_terms.why = 'list'
)

select * from words_terms
