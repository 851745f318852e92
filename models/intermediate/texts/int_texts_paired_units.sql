{{ config(materialized="view") }}

with

-- Single answers are no units that another run has.
comparisons as (
    select *
    from {{ ref("int_texts_comparisons") }}
    where
        outcome <> 'similarity'
        and is_by_prompt
),

units as (
    select *
    from {{ ref("int_texts_units") }}
),

outcomes as (
    select *
    from {{ ref("int_texts_outcomes") }}
    where value is not null
),

paired_units as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        comparisons.outcome || '_gap' as measure,
        comparisons.scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        '' as subject,
        {{ key_of(["units.question", "units.label", "units.name"]) }} as unit_key,
        units.prompt_id as asked,
        units.label = 1 as is_marked,
        md5(units.question) as stratum,
        md5(coalesce(units.sampled, units.prompt_id)) as cluster,
        {{ key_of(["units.label", "units.name_stratum", "units.name"]) }} as name,
        md5(coalesce(units.name_stratum, '')) as name_stratum,
        units.name_id >= 0 as is_named,
        1 as n_candidates,
        sum(units.weight) as n,
        sum(units.weight * outcomes.value order by units.answer_id) as total,
        comparisons.outcome_highest as outcome_range
    from comparisons
    inner join units on comparisons.contrast_id = units.contrast_id
    inner join outcomes
        on
            units.text_key = outcomes.text_key
            and comparisons.outcome = outcomes.outcome
    group by all
)

select * from paired_units
