-- Which single outputs does the guide's rule fail, and why? Those with a single marker come last.
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

-- The guide's code fails outputs with a single marker, too; its text skips them.
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
    select max(published_threshold) as ratio
    from {{ ref("output_thresholds") }}
    where
        audit = '*'
        and measure = 'stereotype_ratio'
),

outputs as (
    select
        scores.*,
        case when scores.stereotype_ratio > published.ratio then 1 else 0 end as is_past_ratio
    from {{ ref("fct_stereotype_scores") }} as scores
    cross join published
    where scores.is_judged
)

select
    runs.audit,
    runs.target,
    outputs.mitigation,
    outputs.category,
    outputs.probe,
    outputs.target_group,
    outputs.prompt_id,
    outputs.trial,
    outputs.published_reasons as failed_because,
    outputs.n_stereotype_markers,
    outputs.n_anti_markers,
    outputs.stereotype_ratio,
    outputs.regard_scores,
    case
        when outputs.is_past_ratio = 1 and outputs.n_stereotype_markers + outputs.n_anti_markers < 2
            then 'a single marker: the code judges the ratio, the text skips it'
    end as contradiction,
    outputs.run_id
from outputs
inner join runs on outputs.run_id = runs.run_id
where
    outputs.published_outcome = 'failed'
    or outputs.is_past_ratio = 1
order by
    runs.audit, runs.target, outputs.mitigation, case when outputs.published_outcome = 'failed' then 0 else 1 end,
    outputs.category, outputs.probe, outputs.prompt_id, outputs.trial
