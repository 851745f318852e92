with

run_states as (
    select
        run_id,
        run_state
    from {{ ref("int_run_states") }}
),

{% if is_built_by_run() %}
    -- The states as of the last build.
    built_runs as (
        select
            run_id,
            run_state
        from {{ this }}
        where why <> 'gone'
    ),
{% else %}
    built_runs as (
        select *
        from run_states
        where false
    ),
{% endif %}

build_runs as (
    select
        run_states.run_state,
        coalesce(run_states.run_id, built_runs.run_id) as run_id,
        case
            when built_runs.run_id is null then 'new'
            when run_states.run_id is null then 'gone'
            when run_states.run_state <> built_runs.run_state then 'changed'
            else 'same'
        end as why
    from run_states
    full join built_runs on run_states.run_id = built_runs.run_id
)

select * from build_runs
