with

-- The standard deviation of the run's scores, in which their gaps are judged.
score_units as (
    select
        run_id,
        mitigation,
        nullif(
            sqrt(
                greatest(
                    sum(weight * score * score order by score, prompt_id)
                    - pow(sum(weight * score order by score, prompt_id), 2) / sum(weight),
                    0
                )
                / greatest(sum(weight) - 1, 1)
            ), 0
        ) as score_sd
    from {{ ref("int_decisions_predictions") }}
    where score is not null
    group by run_id, mitigation
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
    where outcome in ('correct', 'relative', 'rank_value')
),

decisions as (
    select
        units.run_id,
        units.mitigation,
        case
            when units.outcome = 'correct' then 'accuracy_gap'
            when units.outcome = 'relative' then 'relative_gap'
            when decisions_runs.kind = 'label' then 'rank_gap'
            when decisions_runs.kind = 'ranking' then 'place_gap'
            else 'score_gap'
        end as measure,
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
