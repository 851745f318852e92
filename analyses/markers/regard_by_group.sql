-- How much regard do texts show for each group? Shares by scorer, and the gap to the reference group.
{{ config(enabled='markers' in env_var('BIASLEDGER_METHODS', 'markers')) }}

with

shares as (
    select *
    from {{ ref("fct_regard_shares") }}
    where attribute <> ''
),

gaps as (
    select *
    from {{ ref("fct_regard_gaps") }}
    where label = 'negative'
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

by_group as (
    select
        run_id,
        mitigation,
        scorer,
        attribute,
        group_name,
        category,
        max(n_answers) as n_answers,
        sum(case when label = 'negative' then share else 0 end) as share_negative,
        sum(case when label = 'neutral' then share else 0 end) as share_neutral,
        sum(case when label = 'positive' then share else 0 end) as share_positive
    from shares
    group by run_id, mitigation, scorer, attribute, group_name, category
)

select
    runs.audit,
    runs.target,
    by_group.mitigation,
    by_group.scorer,
    by_group.category,
    by_group.attribute,
    by_group.group_name,
    by_group.n_answers,
    by_group.share_negative,
    by_group.share_neutral,
    by_group.share_positive,
    gaps.reference_group,
    gaps.adjusted_gap as more_negative_by,
    gaps.adjusted_low as interval_low,
    gaps.adjusted_high as interval_high,
    gaps.p_value
from by_group
inner join runs on by_group.run_id = runs.run_id
left join gaps
    on
        by_group.run_id = gaps.run_id
        and by_group.mitigation = gaps.mitigation
        and by_group.scorer = gaps.scorer
        and by_group.attribute = gaps.attribute
        and by_group.group_name = gaps.group_name
        and by_group.category = gaps.category
order by
    runs.audit asc,
    runs.target asc,
    by_group.mitigation asc,
    by_group.scorer asc,
    by_group.category asc,
    by_group.attribute asc,
    by_group.share_negative desc, by_group.group_name asc
