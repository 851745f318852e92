{{ config(materialized="by_run") }}

with

run_analysis_settings as (
    select
        run_id,
        analysis -> 'lists' as lists
    from {{ ref("int_run_analysis_settings") }}
    where json_exists(analysis, '$.lists')
),

runs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
),

prompt_attributes as (
    select distinct
        run_id,
        prompt_id
    from {{ run_rows("stg_ledger__prompt_attributes") }}
),

-- The language of an import, which has no templates, is that of most of its neutral prompts, or else of most prompts.
languages as (
    select
        prompts.run_id,
        coalesce(
            mode(prompts.language) filter (where prompt_attributes.prompt_id is null), mode(prompts.language)
        ) as language
    from {{ run_rows("stg_ledger__prompts") }} as prompts
    left join prompt_attributes
        on
            prompts.run_id = prompt_attributes.run_id
            and prompts.prompt_id = prompt_attributes.prompt_id
    group by prompts.run_id
),

answers as (
    select distinct run_id
    from {{ run_rows("int_answers") }}
),

lists_runs as (
    select
        runs.run_id,
        cast(runs.spec -> 'answer' ->> 'k' as integer) as k,
        coalesce(runs.spec -> 'templates' -> 0 ->> 'language', languages.language) as main_language,
        from_json(run_analysis_settings.lists -> 'schemes', '["VARCHAR"]') as schemes,
        run_analysis_settings.lists ->> 'similarity' as similarity,
        run_analysis_settings.lists ->> 'neutral' as neutral,
        run_analysis_settings.lists ->> 'personality' as personality,
        cast(run_analysis_settings.lists -> 'fuzzy' ->> 'distance' as integer) as fuzzy_distance,
        cast(run_analysis_settings.lists -> 'fuzzy' ->> 'overlap' as double) as fuzzy_overlap,
        run_analysis_settings.lists ->> 'relevance_hash' as relevance_hash
    from runs
    inner join run_analysis_settings on runs.run_id = run_analysis_settings.run_id
    inner join answers on runs.run_id = answers.run_id
    inner join languages on runs.run_id = languages.run_id
)

select * from lists_runs
