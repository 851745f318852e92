with

decision_gaps as (
    select *
    from {{ ref("fct_decision_gaps") }}
    where variant = 'plain'
),

runs as (
    select
        run_id,
        audit,
        target
    from {{ ref("stg_ledger__runs") }}
),

described_gaps as (
    select
        decision_gaps.*,
        runs.audit,
        runs.target
    from decision_gaps
    inner join runs on decision_gaps.run_id = runs.run_id
),

-- Every pair of runs of one audit, each once. Runs are independent, so their variances add; for runs that asked about
-- the same subjects this is cautious.
paired as (
    select
        one.run_id,
        other.run_id as other_run_id,
        one.audit,
        one.target,
        other.target as other_target,
        one.outcome,
        one.domain,
        one.attribute,
        one.group_name,
        one.reference_group,
        one.gap,
        other.gap as other_gap,
        one.gap - other.gap as difference,
        sqrt(pow(one.standard_error, 2) + pow(other.standard_error, 2)) as standard_error
    from described_gaps as one
    inner join described_gaps as other
        on
            one.audit = other.audit
            and one.run_id < other.run_id
            and one.outcome = other.outcome
            and one.domain = other.domain
            and one.attribute = other.attribute
            and one.group_name = other.group_name
            and one.reference_group = other.reference_group
),

model_comparisons as (
    select
        cast(run_id as varchar) as run_id,
        cast(other_run_id as varchar) as other_run_id,
        cast(audit as varchar) as audit,
        cast(target as varchar) as target,
        cast(other_target as varchar) as other_target,
        cast(outcome as varchar) as outcome,
        cast(domain as varchar) as domain,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(gap as double) as gap,
        cast(other_gap as double) as other_gap,
        cast(difference as double) as difference,
        cast(standard_error as double) as standard_error,
        cast(difference - 1.959964 * standard_error as double) as interval_low,
        cast(difference + 1.959964 * standard_error as double) as interval_high,
        cast(
            case
                when standard_error > 0 then {{ two_sided_normal_p("difference / standard_error") }}
            end as double
        ) as p_value
    from paired
)

select * from model_comparisons
