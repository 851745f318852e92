with

run_comparisons as (
    select *
    from {{ ref("fct_run_comparisons") }}
),

regressions as (
    select *
    from run_comparisons
    where
        verdict = 'worse'
        and is_baseline
        and is_current
)

select * from regressions
