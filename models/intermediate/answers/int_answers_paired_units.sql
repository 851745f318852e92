{{ config(materialized="view") }}

with

-- Trials of a few prompts are no units that another run has.
comparisons as (
    select *
    from {{ ref("int_answers_gap_comparisons") }}
    where unit = 'prompt'
),

units as (
    select
        * exclude (n),
        unnest(['refused', 'unusable', 'failed']) as scheme,
        unnest([n, n, n_asked]) as n,
        unnest([n_refused, n_unusable, n_failed]) as total
    from {{ ref("int_answers_gap_units") }}
),

paired_units as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        'answer_gap' as measure,
        comparisons.scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        '' as subject,
        {{ key_of(["units.stratum", "units.label", "units.name"]) }} as unit_key,
        units.prompt_id as asked,
        units.label = 1 as is_marked,
        md5(units.stratum) as stratum,
        md5(coalesce(units.sampled, units.prompt_id)) as cluster,
        {{ key_of(["units.label", "units.name_stratum", "units.name"]) }} as name,
        md5(coalesce(units.name_stratum, '')) as name_stratum,
        comparisons.has_names as is_named,
        1 as n_candidates,
        units.n,
        units.total,
        1 as outcome_range
    from comparisons
    inner join units
        on
            comparisons.contrast_id = units.contrast_id
            and comparisons.scheme = units.scheme
    where units.n > 0
)

select * from paired_units
