-- Which measures changed since the pinned baseline or, without one, the run before? Worsened ones first.
with

comparisons as (
    select *
    from {{ ref("fct_run_comparisons") }}
    where
        is_current
        and (is_baseline or is_previous)
        and baseline_mitigation = mitigation
),

-- Where there is both, the pinned one is meant.
chosen as (
    select
        *,
        max(case when is_baseline then 1 else 0 end) over (partition by run_id, mitigation) as has_baseline
    from comparisons
)

select
    audit,
    target,
    mitigation,
    baseline_run_id as compared_with_run,
    case when is_baseline then 'pinned baseline' else 'run before' end as compared_with,
    measure,
    attribute,
    group_name,
    reference_group,
    subject,
    member as category_or_level,
    verdict,
    baseline_value as value_then,
    value as value_now,
    worsening as worse_by,
    interval_low,
    interval_high,
    tolerance,
    p_value_adjusted as p_adjusted,
    severity,
    is_excepted as is_accepted,
    run_id
from chosen
where
    has_baseline = 0
    or is_baseline
order by
    case verdict
        when 'worse' then 0 when 'better' then 1 when 'inconclusive' then 2 when 'unchanged' then 3 else 4
    end asc,
    p_value_adjusted asc nulls last, audit asc, target asc, mitigation asc, measure asc, attribute asc, group_name asc,
    reference_group asc, subject asc, run_id asc, baseline_run_id asc
