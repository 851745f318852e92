{{ config(materialized="view") }}

with

comparisons as (
    select *
    from {{ ref("int_decisions_comparisons") }}
),

units as (
    select *
    from {{ ref("int_decisions_units") }}
    where n > 0
),

decisions_runs as (
    select
        run_id,
        kind
    from {{ ref("int_decisions_runs") }}
),

score_units as (
    select *
    from {{ ref("int_decisions_score_units") }}
),

paired_units as (
    select
        comparisons.run_id,
        comparisons.mitigation,
        {{ measure_of_gap("comparisons.outcome", "decisions_runs.kind") }} as measure,
        comparisons.outcome as scheme,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        comparisons.domain as subject,
        {{ key_of(["units.unit", "units.stratum", "units.person_name"]) }} as unit_key,
        units.asked,
        units.group_name = comparisons.group_name as is_marked,
        md5(units.stratum) as stratum,
        md5(units.cluster) as cluster,
        {{ key_of(["units.group_name", "units.person_name"]) }} as name,
        md5(coalesce(units.name_stratum, '')) as name_stratum,
        units.person_name is not null as is_named,
        units.n_candidates,
        units.n,
        units.total / if(measure = 'score_gap', coalesce(score_units.score_sd, 1), 1) as total,
        (comparisons.outcome_highest - comparisons.outcome_lowest)
        / if(measure = 'score_gap', coalesce(score_units.score_sd, 1), 1) as outcome_range
    from comparisons
    inner join units
        on
            comparisons.pool_key = units.pool_key
            and comparisons.outcome = units.outcome
            and units.group_name in (comparisons.group_name, comparisons.reference_group)
    inner join decisions_runs on comparisons.run_id = decisions_runs.run_id
    left join score_units
        on
            comparisons.run_id = score_units.run_id
            and comparisons.mitigation = score_units.mitigation
)

select * from paired_units
