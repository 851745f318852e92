{{ config(materialized="by_run") }}

with

markers_runs as (
    select
        run_id,
        analysis -> 'markers' ->> 'hash' as markers_hash
    from {{ run_rows("int_run_analysis_settings") }}
    where
        json_exists(analysis, '$.markers')
        -- A judge's rubric says what is compared.
        or run_id in (select judges.run_id from {{ ref("int_markers_judges") }} as judges)
),

answers as (
    select
        run_id,
        prompt_id,
        response_hash,
        answer_text,
        weight
    from {{ run_rows("int_answers") }}
    where status = 'ok'
),

prompts as (
    select
        run_id,
        prompt_id,
        mitigation,
        coalesce(domain, '') as category,
        coalesce(subject, '') as probe
    from {{ run_rows("stg_ledger__prompts") }}
),

groups_of_prompts as (
    select
        run_id,
        prompt_id,
        list_sort(list(distinct group_name)) as groups
    from {{ run_rows("stg_ledger__prompt_attributes") }}
    group by run_id, prompt_id
),

directed_markers as (
    select distinct
        markers_hash,
        probe,
        category,
        group_name,
        direction
    from {{ ref("stg_ledger__markers") }}
    where direction is not null
),

-- Without markers both for and against the stereotype, answers cannot be assessed.
sides as (
    select
        prompts.run_id,
        prompts.prompt_id,
        bool_or(directed_markers.direction = 'stereotype') as has_stereotype_markers,
        bool_or(directed_markers.direction = 'anti') as has_anti_markers
    from prompts
    inner join markers_runs on prompts.run_id = markers_runs.run_id
    inner join directed_markers
        on
            markers_runs.markers_hash = directed_markers.markers_hash
            and {{ marker_applies("directed_markers", "prompts") }}
    left join groups_of_prompts
        on
            prompts.run_id = groups_of_prompts.run_id
            and prompts.prompt_id = groups_of_prompts.prompt_id
    where
        -- The direction of some markers holds for answers about one group only.
        directed_markers.group_name is null
        or list_contains(groups_of_prompts.groups, directed_markers.group_name)
    group by prompts.run_id, prompts.prompt_id
),

-- Identical answers to a prompt are read once and counted as often as they were given.
distinct_texts as (
    select
        answers.run_id,
        answers.prompt_id,
        answers.response_hash,
        markers_runs.markers_hash,
        any_value(answers.answer_text) as answer_text,
        sum(answers.weight) as n_answers
    from answers
    inner join markers_runs on answers.run_id = markers_runs.run_id
    group by
        answers.run_id, answers.prompt_id, answers.response_hash, markers_runs.markers_hash
),

-- A prompt whose answers are all equal, as at temperature 0, says no more for having been asked again.
varied_prompts as (
    select
        run_id,
        prompt_id,
        count(*) > 1 as has_varied_answers
    from distinct_texts
    group by run_id, prompt_id
),

texts as (
    select
        {{ integer_key_of(["distinct_texts.run_id", "distinct_texts.prompt_id", "distinct_texts.response_hash"]) }}
            as answer_key,
        distinct_texts.run_id,
        distinct_texts.prompt_id,
        distinct_texts.response_hash,
        {{ integer_key_of(["distinct_texts.run_id", "distinct_texts.answer_text"]) }} as text_key,
        distinct_texts.markers_hash,
        prompts.mitigation,
        prompts.category,
        prompts.probe,
        coalesce(groups_of_prompts.groups, []) as groups,
        -- Whether the question names a person, whose group may be what an answer is about.
        groups_of_prompts.groups is not null as is_named,
        distinct_texts.answer_text,
        distinct_texts.n_answers,
        varied_prompts.has_varied_answers,
        coalesce(sides.has_stereotype_markers, false) as has_stereotype_markers,
        coalesce(sides.has_anti_markers, false) as has_anti_markers
    from distinct_texts
    inner join varied_prompts
        on
            distinct_texts.run_id = varied_prompts.run_id
            and distinct_texts.prompt_id = varied_prompts.prompt_id
    inner join prompts
        on
            distinct_texts.run_id = prompts.run_id
            and distinct_texts.prompt_id = prompts.prompt_id
    left join groups_of_prompts
        on
            distinct_texts.run_id = groups_of_prompts.run_id
            and distinct_texts.prompt_id = groups_of_prompts.prompt_id
    left join sides
        on
            distinct_texts.run_id = sides.run_id
            and distinct_texts.prompt_id = sides.prompt_id
)

select * from texts
