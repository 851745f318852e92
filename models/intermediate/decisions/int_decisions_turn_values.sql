{{ config(materialized="view") }}

with

predictions as (
    select *
    from {{ ref("int_decisions_predictions") }}
),

turn_values as (
    select
        run_id,
        prompt_id,
        trial,
        if(kind = 'score', 'score', 'rank') as scheme,
        cast(rank_value as double) as outcome_value
    from predictions
    where
        kind <> 'ranking'
        and rank_value is not null
    union all
    select
        run_id,
        prompt_id,
        trial,
        'selected' as scheme,
        cast(selected as double) as outcome_value
    from predictions
    where
        kind = 'label'
        and selected is not null
)

select * from turn_values
