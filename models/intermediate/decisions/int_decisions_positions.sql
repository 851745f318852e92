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

fingerprints as (
    select
        run_id,
        mitigation,
        {{ fingerprint_of(["prompt_id", "trial", "slot", "rank", "weight"]) }} as fingerprint
    from predictions
    group by run_id, mitigation
),

positions as (
    select
        {{ key_of([
            "predictions.run_id", "predictions.mitigation", "fingerprints.fingerprint", "'" ~ var("engine_version") ~ "'",
        ]) }} as position_key,
        predictions.run_id,
        predictions.mitigation,
        cast(
            dense_rank() over (
                partition by predictions.run_id, predictions.mitigation
                order by predictions.prompt_id, predictions.trial
            ) - 1 as integer
        ) as response_id,
        cast(
            dense_rank() over (
                partition by predictions.run_id, predictions.mitigation order by predictions.prompt_id
            ) - 1 as integer
        ) as set_id,
        predictions.slot,
        predictions.rank,
        predictions.weight,
        cast(coalesce(predictions.rank = 1, false) as integer) as is_top
    from predictions
    inner join fingerprints
        on
            predictions.run_id = fingerprints.run_id
            and predictions.mitigation = fingerprints.mitigation
)

select * from positions
