with

predictions as (
    select
        run_id,
        mitigation,
        cast(weight as double) as weight,
        correct
    from {{ ref("int_decisions_predictions") }}
),

decisions_quality as (
    select
        run_id,
        mitigation,
        coalesce(sum(weight) filter (where correct is not null), 0) as n_assessed,
        sum(weight * correct) / n_assessed as accuracy
    from predictions
    group by run_id, mitigation
)

select * from decisions_quality
