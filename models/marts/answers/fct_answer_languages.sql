{{ config(materialized="by_run") }}

with

runs_of_items as (
    select run_id
    from {{ ref("stg_ledger__runs") }}
    where json_extract_string(spec, '$.answer.kind') in ('list', 'items', 'ranking')
),

-- Refusals are left out: they are recognised, and may be in another language than answers. Titles and names have no
-- language, and the language of short labels cannot be detected.
answers as (
    select
        counts.run_id,
        counts.prompt_id,
        counts.answer_language as language,
        counts.n
    from {{ run_rows("int_answers_counts") }} as counts
    left join runs_of_items on counts.run_id = runs_of_items.run_id
    where
        counts.status in ('ok', 'unread', 'malformed')
        and (counts.answer_language <> '' or counts.status <> 'ok' or runs_of_items.run_id is null)
    qualify max(counts.answer_language) over (partition by counts.run_id) <> ''
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
),

counted as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        answers.language,
        sum(answers.n) as n
    from answers
    inner join prompt_groups
        on
            answers.run_id = prompt_groups.run_id
            and answers.prompt_id = prompt_groups.prompt_id
    group by
        prompt_groups.run_id, prompt_groups.mitigation, prompt_groups.attribute, prompt_groups.group_name,
        answers.language
),

answer_languages as (
    select
        *,
        if(language = '', 'too short to tell', {{ language_name("language") }}) as language_name,
        n / sum(n) over (partition by run_id, mitigation, attribute, group_name) as share,
        case when language <> '' then {{ has_refusal_patterns("language") }} end as is_checked_for_refusals
    from counted
)

{{ contracted("answer_languages") }}
