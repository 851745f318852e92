-- Does each attribute pass? SNSR and SNSV with the source's verdict and ours, also in other wordings.
{{ config(enabled='lists' in env_var('BIASLEDGER_METHODS', 'lists')) }}

with

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
),

-- Other wordings are not judged by attribute: theirs are the rows of the judged scheme and similarity.
judged as (
    select distinct
        all_spreads.run_id,
        all_spreads.scheme,
        all_findings.scheme as similarity_name
    from {{ ref("fct_similarity_spread") }} as all_spreads
    inner join {{ ref("fct_findings") }} as all_findings on all_spreads.contrast_id = all_findings.contrast_id
    where
        all_spreads.is_judged
        and all_findings.measure = 'snsr'
),

own_neutral as (
    select distinct
        list_set_id,
        neutral,
        similarity_name
    from {{ ref("fct_group_similarity") }}
    where is_judged_neutral
),

spreads as (
    select all_spreads.*
    from {{ ref("fct_similarity_spread") }} as all_spreads
    inner join judged
        on
            all_spreads.run_id = judged.run_id
            and all_spreads.scheme = judged.scheme
            and all_spreads.similarity_name = judged.similarity_name
    inner join own_neutral
        on
            all_spreads.list_set_id = own_neutral.list_set_id
            and all_spreads.neutral = own_neutral.neutral
            and all_spreads.similarity_name = own_neutral.similarity_name
    where
        all_spreads.mitigation = 'plain'
        and all_spreads.attribute <> '(all)'
),

robustness as (
    select *
    from {{ ref("fct_robustness") }}
),

findings as (
    select
        contrast_id,
        scheme as similarity_name,
        subject as domain,
        max(case when measure = 'snsr' then status end) as snsr_status,
        max(case when measure = 'snsv' then status end) as snsv_status
    from {{ ref("fct_findings") }}
    where measure in ('snsr', 'snsv')
    group by contrast_id, scheme, subject
),

thresholds as (
    select
        max(case when measure = 'snsr' then published_threshold end) as snsr,
        max(case when measure = 'snsv' then published_threshold end) as snsv
    from {{ ref("thresholds") }}
    where audit = '*'
)

select
    runs.audit,
    runs.target,
    spreads.domain,
    spreads.attribute,
    spreads.wording,
    spreads.snsr,
    spreads.snsv,
    case
        when spreads.snsr > thresholds.snsr or spreads.snsv > thresholds.snsv then 'FAIL' else 'PASS'
    end as published_status,
    spreads.snsr_debiased as snsr_beyond_chance,
    findings.snsr_status,
    spreads.snsv_debiased as snsv_beyond_chance,
    findings.snsv_status,
    robustness.snsr_clean,
    robustness.snsr_change,
    case
        when spreads.wording <> 'clean'
            then max(case when spreads.wording = 'clean' then spreads.snsv end) over of_attribute
    end as snsv_clean,
    robustness.similarity as similarity_to_clean,
    spreads.most_similar_group,
    spreads.least_similar_group,
    spreads.n_subjects,
    spreads.run_id
from spreads
inner join runs on spreads.run_id = runs.run_id
cross join thresholds
left join findings
    on
        spreads.contrast_id = findings.contrast_id
        and spreads.similarity_name = findings.similarity_name
        and spreads.domain = findings.domain
        and spreads.wording = 'clean'
left join robustness
    on
        spreads.list_set_id = robustness.list_set_id
        and spreads.similarity_name = robustness.similarity_name
window of_attribute as (partition by spreads.run_id, spreads.domain, spreads.attribute)
order by
    runs.audit, runs.target, spreads.domain, case when spreads.wording = 'clean' then 0 else 1 end,
    case when spreads.attribute like '%*%' then 1 else 0 end, spreads.attribute, spreads.wording, spreads.run_id
