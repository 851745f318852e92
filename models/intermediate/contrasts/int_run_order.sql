with

runs as (
    select
        run_id,
        audit,
        target,
        started_at
    from {{ ref("stg_ledger__runs") }}
),

-- One that was finished and is then resumed, to ask again what failed, has all its answers even so.
finished as (
    select distinct run_id
    from {{ ref("stg_ledger__run_events") }}
    where event = 'finished'
),

answered as (
    select run_id
    from {{ ref("int_run_answers") }}
    where has_answers
),

described as (
    select
        runs.*,
        answered.run_id is not null as has_answers,
        finished.run_id is not null as is_finished,
        has_answers and is_finished as is_whole
    from runs
    left join finished on runs.run_id = finished.run_id
    left join answered on runs.run_id = answered.run_id
),

-- A run that was stopped half-way, or is being collected, takes no other's place before it is finished: what it has not
-- asked yet could not be an alarm. Where none was finished, what there is counts.
counting as (
    select
        *,
        row_number() over (
            partition by audit, target
            order by is_whole desc, has_answers desc, started_at desc, run_id desc
        ) as place
    from described
),

dated as (
    select
        *,
        started_at > first_value(started_at) over (partition by audit, target order by place) as is_newer
    from counting
),

run_order as (
    select
        run_id,
        is_finished,
        place = 1 as is_current,
        row_number() over (partition by audit, target order by is_newer, place) as run_rank,
        coalesce(
            last_value(if(is_whole, run_id, null) ignore nulls) over earlier,
            last_value(if(has_answers, run_id, null) ignore nulls) over earlier
        ) as previous_run_id
    from dated
    window
        earlier as (
            partition by audit, target
            order by started_at asc, run_id asc
            rows between unbounded preceding and 1 preceding
        )
)

select * from run_order
