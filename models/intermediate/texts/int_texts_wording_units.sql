with

-- The reference group is in several contrasts here, too.
text_answers as (
    select distinct
        text_units.run_id,
        text_units.mitigation,
        outcomes.outcome || '_gap' as measure,
        text_units.attribute,
        if(text_units.label = 1, text_units.group_name, text_units.reference_group) as group_name,
        text_units.prompt_id || ' | ' || text_units.trial as unit,
        text_units.question as stratum,
        text_units.name as wording,
        cast(text_units.weight as double) as n,
        text_units.weight * outcomes.value as total
    from {{ ref("int_texts_units") }} as text_units
    inner join {{ ref("int_texts_outcomes") }} as outcomes on text_units.text_key = outcomes.text_key
    where outcomes.value is not null
),

texts as (
    select
        *,
        'words' as scheme,
        '' as subject
    from text_answers
)

select * from texts
