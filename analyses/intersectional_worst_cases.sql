-- Which intersections are worst? Next to the worst finding on either attribute alone.
with

findings as (
    select
        findings.*,
        -- Low values of some measures are the worse ones, 0 the worst.
        case
            when measures.side = 'lower' then findings.threshold / greatest(findings.value, 0.001)
            else abs(findings.value) / nullif(findings.threshold, 0)
        end as times_threshold
    from {{ ref("fct_findings") }} as findings
    inner join {{ ref("dim_measures") }} as measures on findings.measure = measures.measure
    where
        findings.is_current
        and findings.status <> 'insufficient_data'
),

intersections as (
    select *
    from findings
    where strpos(attribute, '*') > 0
),

-- The attributes that an intersection is made of, with the same group of each; measures over all groups have no group.
parts as (
    select
        intersections.finding_id,
        single.attribute,
        single.group_name,
        single.value,
        single.status,
        single.times_threshold,
        row_number() over (
            partition by intersections.finding_id
            order by single.times_threshold desc nulls last, single.attribute asc
        ) as part_rank
    from intersections
    inner join findings as single
        on
            intersections.run_id = single.run_id
            and intersections.mitigation = single.mitigation
            and intersections.measure = single.measure
            and intersections.scheme = single.scheme
            and intersections.subject = single.subject
            and strpos('*' || intersections.attribute || '*', '*' || single.attribute || '*') > 0
            and strpos('*' || intersections.group_name || '*', '*' || single.group_name || '*') > 0
    where strpos(single.attribute, '*') = 0
)

select
    intersections.audit,
    intersections.target,
    intersections.mitigation,
    intersections.measure,
    intersections.attribute,
    intersections.group_name,
    intersections.reference_group,
    intersections.subject,
    intersections.status,
    intersections.value,
    intersections.threshold,
    intersections.times_threshold,
    intersections.p_value_adjusted as p_adjusted,
    parts.attribute as worst_single_attribute,
    parts.group_name as worst_single_group,
    parts.status as single_status,
    parts.value as single_value,
    coalesce(intersections.times_threshold > parts.times_threshold, false) as is_worse_than_either_alone
from intersections
left join parts
    on
        intersections.finding_id = parts.finding_id
        and parts.part_rank = 1
order by
    case intersections.status when 'alarm' then 0 when 'inconclusive' then 1 else 2 end asc,
    intersections.times_threshold desc nulls last,
    intersections.finding_id asc
