with

runs as (
    select
        run_id,
        spec -> 'answer' as answer
    from {{ ref("stg_ledger__runs") }}
),

run_analysis_settings as (
    select
        run_id,
        analysis -> 'nouns' as nouns,
        analysis -> 'decisions' as decisions
    from {{ ref("int_run_analysis_settings") }}
),

run_nouns as (
    select
        runs.run_id,
        coalesce(settings.nouns ->> 'item', 'item') as noun_item,
        {{ plural_of("noun_item") }} as noun_items,
        coalesce(settings.nouns ->> 'case', 'case') as noun_case,
        {{ plural_of("noun_case") }} as noun_cases,
        coalesce(cast(settings.decisions ->> 'top' as integer), 1) as top_places,
        array_to_string(from_json(settings.decisions -> 'favourable', '["VARCHAR"]'), ' or ') as favourable,
        coalesce(
            settings.nouns ->> 'outcome',
            case runs.answer ->> 'kind'
                when 'label' then 'labelled ' || nullif(favourable, '')
                when 'ranking'
                    then if(top_places = 1, 'ranked first', printf('ranked among the first %d', top_places))
                when 'score' then 'scored above the median'
            end,
            'selected'
        ) as noun_outcome,
        ' ' || coalesce(settings.nouns ->> 'unit', runs.answer ->> 'currency') as noun_unit
    from runs
    left join run_analysis_settings as settings on runs.run_id = settings.run_id
)

select * exclude (top_places, favourable)
from run_nouns
