with

score_units as (
    select *
    from {{ ref("int_decisions_score_units") }}
),

decisions_runs as (
    select
        run_id,
        kind
    from {{ ref("int_decisions_runs") }}
),

decisions_units as (
    select *
    from {{ ref("int_decisions_units") }}
    where outcome in ('correct', 'false_positive', 'false_negative', 'relative', 'percentile', 'rank_value')
),

decisions as (
    select
        units.run_id,
        units.mitigation,
        {{ measure_of_gap("units.outcome", "decisions_runs.kind") }} as measure,
        units.outcome as scheme,
        units.domain as subject,
        units.attribute,
        units.group_name,
        units.unit,
        units.stratum,
        units.person_name as wording,
        cast(units.n as double) as n,
        cast(units.total as double)
        / if(units.outcome = 'rank_value', coalesce(score_units.score_sd, 1), 1) as total
    from decisions_units as units
    inner join decisions_runs on units.run_id = decisions_runs.run_id
    left join score_units
        on
            units.run_id = score_units.run_id
            and units.mitigation = score_units.mitigation
)

select * from decisions
