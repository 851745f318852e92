with

run_events as (
    select
        run_id,
        event_number,
        detail
    from {{ ref("stg_ledger__run_events") }}
    where event = 'graded'
),

-- The last event of a judge counts: its test on swapped groups may have come later.
judges as (
    select
        run_id,
        detail ->> '$.scorer' as scorer,
        detail ->> '$.model' as model,
        detail ->> '$.rubric' as rubric,
        detail ->> '$.label' as label,
        detail ->> '$.worse' as worse,
        cast(detail ->> '$.lowest' as double) as lowest,
        cast(detail ->> '$.highest' as double) as highest,
        detail -> '$.swaps' as swaps
    from run_events
    qualify row_number() over (partition by run_id, detail ->> '$.scorer' order by event_number desc) = 1
)

select * from judges
