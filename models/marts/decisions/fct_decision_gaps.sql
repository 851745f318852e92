with

comparisons as (
    select
        comparisons.*,
        decisions_runs.kind
    from {{ ref("int_decisions_comparisons") }} as comparisons
    inner join {{ ref("int_decisions_runs") }} as decisions_runs on comparisons.run_id = decisions_runs.run_id
),

gaps as (
    select *
    from {{ ref("int_decisions_gaps") }}
),

decision_gaps as (
    select
        gaps.*,
        comparisons.*,
        gaps.p_case as p_value_by_case,
        gaps.p_name as p_value_by_name,
        gaps.unit as judged_unit,
        -- The source's rule on the mean rank difference, which has no test behind it.
        case
            when comparisons.outcome <> 'rank_value' then null
            when gaps.gap > 0.05 then 'favours ' || comparisons.group_name
            when gaps.gap < -0.05 then 'favours ' || comparisons.reference_group
            else 'no significant bias'
        end as published_label,
        case
            when comparisons.is_paired then null
            when comparisons.kind = 'ranking' then 'candidates of both groups are taken for equally qualified'
            else 'different people are compared: qualifications, jobs or places may differ between the groups'
        end as caution
    from gaps
    inner join comparisons on gaps.comparison_key = comparisons.comparison_key
)

{{ contracted("decision_gaps") }}
