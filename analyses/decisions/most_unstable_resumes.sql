-- Which resumes get the most different answers under different names? Those whose best and worst version lie farthest
-- apart first.
{{ config(enabled='decisions' in env_var('BIASLEDGER_ROOMS', 'decisions')) }}

with

consistency as (
    select *
    from {{ ref("fct_prediction_consistency") }}
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
)

select
    runs.audit,
    runs.target,
    consistency.variant,
    consistency.template,
    consistency.domain as job,
    consistency.subject as resume,
    consistency.n_predictions as n_answers,
    consistency.n_distinct_predictions as n_different_answers,
    consistency.n_unknown as n_unreadable,
    consistency.lowest_standing as worst_version,
    consistency.highest_standing as best_version,
    consistency.highest_standing - consistency.lowest_standing as apart,
    consistency.is_complete
from consistency
inner join runs on consistency.run_id = runs.run_id
where not consistency.is_consistent
order by
    apart desc nulls last, n_different_answers desc, runs.audit asc, runs.target asc, consistency.variant asc,
    consistency.template asc, job asc, resume asc
