{{ config(materialized="by_run") }}

with

predictions as (
    select
        run_id,
        mitigation,
        prompt_id,
        trial,
        slot,
        rank,
        weight
    from {{ run_rows("int_decisions_predictions") }}
    where kind = 'ranking'
    -- A ranking without a first place says nothing here; fractions of rankings, which older ledgers may hold, cannot be
    -- counted.
    qualify
        count(*) filter (where rank = 1) over (partition by run_id, prompt_id, trial) = 1
        and bool_and(weight = floor(weight)) over (partition by run_id, mitigation)
),

positions as (
    select
        {{ key_of(["run_id", "mitigation"]) }} as position_key,
        run_id,
        mitigation,
        cast(
            dense_rank() over (
                partition by run_id, mitigation
                order by prompt_id, trial
            ) - 1 as integer
        ) as response_id,
        cast(
            dense_rank() over (
                partition by run_id, mitigation order by prompt_id
            ) - 1 as integer
        ) as set_id,
        slot,
        rank,
        weight,
        cast(coalesce(rank = 1, false) as integer) as is_top
    from predictions
)

select * from positions
