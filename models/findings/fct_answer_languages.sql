{%- set runs = new_runs(ref("int_run_states")) -%}
{{ config(materialized="kept", kept_by="run_state", kept_in="int_run_states", told_by="run_id", with_settings=true) }}

with

-- What was recognised as a refusal needs no further look, and a refusal may be in another language than an answer.
answers as (
    select
        run_id,
        prompt_id,
        answer_language as language,
        n
    from {{ ref("int_answers_counts") }}
    where
        answer_language <> ''
        and status in ('ok', 'unread', 'malformed')
        and {{ is_of_runs("run_id", runs) }}
),

-- A prompt about several people counts once for each group among them.
prompt_groups as (
    select distinct
        run_id,
        prompt_id,
        mitigation,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
    where {{ is_of_runs("run_id", runs) }}
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
        {{ language_name("language") }} as language_name,
        n / sum(n) over (partition by run_id, mitigation, attribute, group_name) as share,
        {{ has_refusal_patterns("language") }} as is_checked_for_refusals
    from counted
)

{{ contracted("answer_languages") }}
