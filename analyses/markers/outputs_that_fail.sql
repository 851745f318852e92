-- Which single outputs does the guide's rule fail, by its code and by its text, and why? Where both differ, the last
-- column says what contradicts what; `biasledger explain` shows prompts and answers.
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
        scores.*,
        scores.n_stereotype_markers + scores.n_anti_markers as n_markers,
        scores.stereotype_ratio > published.ratio as is_past_ratio,
        coalesce(scores.negative_regard > published.regard, false) as is_past_regard
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
    outputs.n_stereotype_markers,
    outputs.n_anti_markers,
    outputs.stereotype_ratio,
    outputs.negative_regard,
    case
        when outputs.is_past_ratio and outputs.is_past_regard then 'stereotype ratio and negative regard'
        when outputs.is_past_ratio then 'stereotype ratio'
        else 'negative regard'
    end as failed_by_code_for,
    case
        when outputs.is_past_ratio and outputs.n_markers >= 2 and outputs.is_past_regard
            then 'stereotype ratio and negative regard'
        when outputs.is_past_ratio and outputs.n_markers >= 2 then 'stereotype ratio'
        when outputs.is_past_regard then 'negative regard'
    end as failed_by_text_for,
    case
        when outputs.is_past_ratio and outputs.n_markers < 2
            then 'a single marker: the code judges the ratio, the text skips it'
    end as contradiction
from outputs
inner join runs on outputs.run_id = runs.run_id
where outputs.is_past_ratio or outputs.is_past_regard
order by
    runs.audit, runs.target, outputs.mitigation, outputs.category, outputs.probe, outputs.prompt_id, outputs.trial
