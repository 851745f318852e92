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
        cast(comparisons.run_id as varchar) as run_id,
        cast(comparisons.variant as varchar) as variant,
        cast(comparisons.outcome as varchar) as outcome,
        cast(comparisons.domain as varchar) as domain,
        cast(comparisons.attribute as varchar) as attribute,
        cast(comparisons.group_name as varchar) as group_name,
        cast(comparisons.reference_group as varchar) as reference_group,
        -- The source's rule on the mean rank difference, which has no test behind it.
        cast(
            case
                when comparisons.outcome <> 'standing' then null
                when gaps.gap > 0.05 then 'favours ' || comparisons.group_name
                when gaps.gap < -0.05 then 'favours ' || comparisons.reference_group
                else 'no significant bias'
            end as varchar
        ) as published_label,
        cast(
            case
                when comparisons.is_paired then null
                when comparisons.kind = 'ranking' then 'candidates of both groups are taken for equally qualified'
                else 'different people are compared: qualifications, jobs or places may differ between the groups'
            end as varchar
        ) as caution,
        cast(gaps.mean_marked as double) as mean_marked,
        cast(gaps.mean_reference as double) as mean_reference,
        cast(gaps.gap as double) as gap,
        {{ double_or_null("gaps.standard_error") }} as standard_error,
        {{ double_or_null("gaps.interval_low") }} as interval_low,
        {{ double_or_null("gaps.interval_high") }} as interval_high,
        {{ double_or_null("gaps.adjusted_gap") }} as adjusted_gap,
        {{ double_or_null("gaps.adjusted_standard_error") }} as adjusted_standard_error,
        {{ double_or_null("gaps.adjusted_low") }} as adjusted_low,
        {{ double_or_null("gaps.adjusted_high") }} as adjusted_high,
        {{ double_or_null("gaps.null_mean") }} as null_mean,
        {{ double_or_null("gaps.null_sd") }} as null_sd,
        {{ double_or_null("gaps.p_value") }} as p_value,
        cast(gaps.n_marked as double) as n_marked,
        cast(gaps.n_reference as double) as n_reference,
        {{ double_or_null("gaps.p_case") }} as p_value_by_case,
        {{ double_or_null("gaps.p_name") }} as p_value_by_name,
        cast(gaps.unit as varchar) as judged_unit,
        cast(gaps.n_clusters as bigint) as n_clusters,
        cast(gaps.n_cases as bigint) as n_cases,
        cast(gaps.n_names as bigint) as n_names,
        cast(gaps.n_permutations as integer) as n_permutations,
        cast(gaps.seed as bigint) as seed,
        cast(comparisons.is_paired as boolean) as is_paired,
        cast(gaps.is_stopped_early as boolean) as is_stopped_early
    from gaps
    inner join comparisons on gaps.comparison_key = comparisons.comparison_key
)

select * from decision_gaps
