{{ config(materialized="by_run") }}

with

lists_runs as (
    select
        run_id,
        main_language,
        schemes
    from {{ run_rows("int_lists_runs") }}
),

runs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
),

prompts as (
    select *
    from {{ run_rows("stg_ledger__prompts") }}
),

prompt_attributes as (
    select
        run_id,
        prompt_id,
        count(*) as n_attributes,
        string_agg(descriptor, ' | ' order by attribute) as descriptors
    from {{ run_rows("stg_ledger__prompt_attributes") }}
    where slot = 1
    group by run_id, prompt_id
),

prompt_groups as (
    select
        run_id,
        prompt_id,
        attribute,
        group_name
    from {{ run_rows("int_prompt_groups") }}
    where slot = 1
),

run_attributes as (
    select
        run_id,
        attribute,
        is_crossed,
        len(components) as n_components
    from {{ ref("int_run_attributes") }}
),

-- A prompt that states two attributes speaks of their intersection, and of neither alone.
stated_groups as (
    select
        prompt_groups.run_id,
        prompt_groups.prompt_id,
        prompt_groups.attribute,
        prompt_groups.group_name,
        run_attributes.is_crossed
    from prompt_groups
    inner join prompt_attributes
        on
            prompt_groups.run_id = prompt_attributes.run_id
            and prompt_groups.prompt_id = prompt_attributes.prompt_id
    inner join run_attributes
        on
            prompt_groups.run_id = run_attributes.run_id
            and prompt_groups.attribute = run_attributes.attribute
            and prompt_attributes.n_attributes = run_attributes.n_components
),

asked_templates as (
    select
        run_id,
        unnest(from_json(spec -> 'templates', '[{"id": "VARCHAR", "neutral": "VARCHAR", "part": "VARCHAR"}]')) as asked
    from runs
),

lists_prompts as (
    select
        prompts.run_id,
        prompts.prompt_id,
        lists_runs.schemes,
        prompts.mitigation,
        coalesce(prompts.domain, '') as domain,
        coalesce(prompts.subject, '') as subject,
        {{ integer_key_of([
            "prompts.run_id", "coalesce(prompts.domain, '')", "coalesce(prompts.subject, '')",
        ]) }} as subject_key,
        prompts.template,
        prompts.language,
        asked_templates.asked.neutral as matched_neutral,
        asked_templates.asked.part is null as is_core,
        -- How the question is worded: clean, in another language, or perturbed.
        coalesce(
            nullif(
                concat_ws(' ', nullif(prompts.language, lists_runs.main_language), prompts.perturbation), ''
            ),
            'clean'
        ) as wording,
        prompt_attributes.prompt_id is null as is_neutral,
        stated_groups.attribute,
        stated_groups.group_name,
        coalesce(stated_groups.is_crossed, false) as is_crossed,
        -- Prompts of the same words are one question asked again, whatever attribute they were written for.
        {{ key_of([
            "prompts.system_prompt",
            "coalesce(prompts.prompt_text, concat_ws(' | ', prompts.template, prompts.language, prompts.subject, "
            ~ "prompt_attributes.descriptors))",
        ]) }} as question_key
    from prompts
    inner join lists_runs on prompts.run_id = lists_runs.run_id
    left join prompt_attributes
        on
            prompts.run_id = prompt_attributes.run_id
            and prompts.prompt_id = prompt_attributes.prompt_id
    left join stated_groups
        on
            prompts.run_id = stated_groups.run_id
            and prompts.prompt_id = stated_groups.prompt_id
    left join asked_templates
        on
            prompts.run_id = asked_templates.run_id
            and prompts.template = asked_templates.asked.id
),

prompt_schemes as (
    select
        * exclude (schemes),
        unnest(schemes) as scheme
    from lists_prompts
),

answers as (
    select
        prompt_schemes.*,
        answers.trial,
        answers.seq,
        answers.status,
        answers.response_hash,
        answers.answer_text
    from {{ run_rows("int_answers") }} as answers
    inner join prompt_schemes
        on
            answers.run_id = prompt_schemes.run_id
            and answers.prompt_id = prompt_schemes.prompt_id
),

keyed_answers as (
    select
        *,
        {{ integer_key_of(["run_id", "response_hash", "answer_text", "scheme"]) }} as list_key
    from answers
)

select * from keyed_answers
