{%- set runs = new_runs(ref("int_run_states")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_run_states", told_by="run_id", with_settings=true) }}

with

runs_of_items as (
    select run_id
    from {{ ref("stg_ledger__runs") }}
    where json_extract_string(spec, '$.answer.kind') in ('list', 'items', 'ranking')
),

-- What was recognised as a refusal needs no further look, and a refusal may be in another language than an answer.
-- Titles and names have no language, and short labels have none that can be detected.
answers as (
    select
        counts.run_id,
        counts.prompt_id,
        counts.answer_language as language,
        counts.n
    from {{ ref("int_answers_counts") }} as counts
    left join runs_of_items on counts.run_id = runs_of_items.run_id
    where
        counts.status in ('ok', 'unread', 'malformed')
        and (counts.answer_language <> '' or counts.status <> 'ok' or runs_of_items.run_id is null)
        and {{ is_of_runs("counts.run_id", runs) }}
    qualify max(counts.answer_language) over (partition by counts.run_id) <> ''
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        variant,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
    where {{ is_of_runs("run_id", runs) }}
),

counted as (
    select
        prompt_groups.run_id,
        prompt_groups.variant,
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
        prompt_groups.run_id, prompt_groups.variant, prompt_groups.attribute, prompt_groups.group_name,
        answers.language
),

answer_languages as (
    select
        *,
        if(language = '', 'too short to tell', {{ language_name("language") }}) as language_name,
        n / sum(n) over (partition by run_id, variant, attribute, group_name) as share,
        case when language <> '' then {{ has_refusal_patterns("language") }} end as is_checked_for_refusals
    from counted
)

{{ contracted("answer_languages") }}
