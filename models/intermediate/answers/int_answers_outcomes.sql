with

responses as (
    select
        run_id,
        prompt_id,
        trial,
        attempt,
        status,
        weight
    from {{ ref("stg_ledger__responses") }}
),

-- What was erased since was answered even so: without it, who is left would be refused more.
last_attempts as (
    select *
    from responses
    qualify row_number() over (partition by run_id, prompt_id, trial order by attempt desc) = 1
),

outcomes as (
    select
        run_id,
        prompt_id,
        trial,
        status,
        -- A failed connection says nothing of what would have been answered.
        if(status = 'error', 0, weight) as n,
        if(status = 'ok', weight, 0) as n_usable,
        if(status = 'refused', weight, 0) as n_refused,
        if(status in ('malformed', 'truncated'), weight, 0) as n_unusable,
        if(status = 'error', weight, 0) as n_error
    from last_attempts
)

select * from outcomes
