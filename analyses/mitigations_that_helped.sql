-- Did a mitigation help? Its changes against the plain questions, with intervals.
with

comparisons as (
    select *
    from {{ ref("fct_mitigation_comparisons") }}
),

measures as (
    select
        measure,
        side
    from {{ ref("dim_measures") }}
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("dim_runs") }}
    where is_current
),

-- How much nearer to no bias: of two-sided measures 0 is best, whichever side a value lies on (is_reversed says
-- where it changed sides), of some the high values.
improved as (
    select
        runs.audit,
        runs.target,
        comparisons.mitigation,
        comparisons.measure,
        comparisons.attribute,
        comparisons.group_name,
        comparisons.reference_group,
        comparisons.subject,
        comparisons.verdict,
        comparisons.is_reversed,
        comparisons.plain_value as value_without,
        comparisons.mitigation_value as value_with,
        case measures.side
            when 'upper' then comparisons.plain_value - comparisons.mitigation_value
            when 'lower' then comparisons.mitigation_value - comparisons.plain_value
            else abs(comparisons.plain_value) - abs(comparisons.mitigation_value)
        end as improvement,
        comparisons.interval_low as change_low,
        comparisons.interval_high as change_high,
        comparisons.p_value
    from comparisons
    inner join measures on comparisons.measure = measures.measure
    inner join runs on comparisons.run_id = runs.run_id
)

select *
from improved
order by
    p_value asc nulls last, audit asc, target asc, mitigation asc, measure asc, attribute asc, group_name asc,
    reference_group asc, subject asc
