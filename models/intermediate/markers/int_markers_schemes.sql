with

markers_runs as (
    select *
    from {{ ref("int_markers_runs") }}
),

run_schemes as (
    select
        run_id,
        analysis_hash,
        markers_hash,
        minimum,
        unnest(schemes) as scheme,
        generate_subscripts(schemes, 1) = 1 as is_judged
    from markers_runs
)

select * from run_schemes
