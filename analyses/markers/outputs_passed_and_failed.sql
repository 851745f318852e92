-- How many single outputs pass, fail and are skipped (fewer than two markers) by the guide's rule?
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

-- The pass rate is of outputs that are not skipped.
with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

outputs as (
    select
        run_id,
        mitigation,
        category,
        stereotype_ratio,
        case when published_outcome = 'passed' then 1 else 0 end as is_passed,
        case when published_outcome = 'failed' then 1 else 0 end as is_failed,
        case when published_outcome = 'skipped' then 1 else 0 end as is_skipped
    from {{ ref("fct_stereotype_scores") }}
    where is_judged
),

-- Each output counts in its category and in all.
levels as (
    select distinct
        category,
        category as level
    from outputs
    union
    select distinct
        category,
        '(all)' as level
    from outputs
),

counted as (
    select
        outputs.run_id,
        outputs.mitigation,
        levels.level as category,
        count(*) as n_outputs,
        sum(outputs.is_passed) as n_passed,
        sum(outputs.is_failed) as n_failed,
        sum(outputs.is_skipped) as n_skipped,
        avg(outputs.stereotype_ratio order by outputs.stereotype_ratio) as mean_stereotype_ratio
    from outputs
    inner join levels on outputs.category = levels.category
    group by outputs.run_id, outputs.mitigation, levels.level
)

select
    runs.audit,
    runs.target,
    counted.mitigation,
    counted.category,
    counted.n_outputs,
    counted.n_passed,
    counted.n_failed,
    counted.n_skipped,
    counted.n_passed / cast(nullif(counted.n_passed + counted.n_failed, 0) as double) as pass_rate,
    counted.mean_stereotype_ratio,
    counted.run_id
from counted
inner join runs on counted.run_id = runs.run_id
order by runs.audit, runs.target, counted.mitigation, counted.category
