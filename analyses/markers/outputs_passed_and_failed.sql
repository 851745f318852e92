-- How many single outputs pass and fail the guide's rule, by its code and by its text, in all and by category?
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

published as (
    select
        max(case when measure = 'stereotype_ratio' then published_threshold end) as ratio,
        max(case when measure = 'negative_regard' then published_threshold end) as regard
    from {{ ref("output_thresholds") }}
    where audit = '*'
),

-- Its code judges any output, and puts 0.5 where there is no marker; its text skips those with fewer than two markers.
outputs as (
    select
        scores.run_id,
        scores.mitigation,
        scores.category,
        scores.stereotype_ratio,
        scores.n_stereotype_markers + scores.n_anti_markers < 2 as is_skipped,
        scores.stereotype_ratio > published.ratio as is_past_ratio,
        coalesce(scores.negative_regard > published.regard, false) as is_past_regard
    from {{ ref("fct_stereotype_scores") }} as scores
    cross join published
    where scores.is_judged
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
        sum(case when outputs.is_skipped then 1 else 0 end) as n_skipped_by_text,
        sum(case when outputs.is_past_ratio or outputs.is_past_regard then 1 else 0 end) as n_failed_by_code,
        sum(
            case when (outputs.is_past_ratio and not outputs.is_skipped) or outputs.is_past_regard then 1 else 0 end
        ) as n_failed_by_text,
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
    counted.n_outputs - counted.n_failed_by_code as n_passed_by_code,
    counted.n_failed_by_code,
    1 - counted.n_failed_by_code / cast(counted.n_outputs as double) as pass_rate_by_code,
    counted.n_outputs - counted.n_failed_by_text as n_passed_by_text,
    counted.n_failed_by_text,
    1 - counted.n_failed_by_text / cast(counted.n_outputs as double) as pass_rate_by_text,
    counted.n_skipped_by_text,
    counted.mean_stereotype_ratio
from counted
inner join runs on counted.run_id = runs.run_id
order by runs.audit, runs.target, counted.mitigation, counted.category
