with

run_values as (
    select *
    from {{ ref("int_run_values") }}
),

pairs as (
    select *
    from {{ ref("int_run_pairs") }}
),

measures as (
    select
        measure,
        side,
        restates,
        is_at_equal_sizes
    from {{ ref("dim_measures") }}
),

findings_thresholds as (
    select *
    from {{ ref("int_findings_thresholds") }}
),

tolerances as (
    select *
    from {{ ref("tolerances") }}
),

-- The most specific tolerance wins: one that names the measure, then the audit, then the attribute.
tolerated as (
    select
        run_values.*,
        pairs.baseline_run_id,
        pairs.run_id,
        pairs.baseline_mitigation,
        pairs.mitigation,
        pairs.audit,
        pairs.baseline_target,
        pairs.target,
        pairs.is_baseline,
        pairs.is_previous,
        pairs.is_imported,
        pairs.is_current,
        measures.side,
        measures.restates,
        measures.is_at_equal_sizes,
        findings_thresholds.finding_id,
        findings_thresholds.contrast_id,
        -- Both runs have the same names and wordings, so that few of them explain no change.
        findings_thresholds.full_severity as severity,
        findings_thresholds.alpha,
        findings_thresholds.min_units,
        tolerances.tolerance
    from run_values
    inner join pairs on run_values.pair_key = pairs.pair_key
    inner join measures on run_values.measure = measures.measure
    inner join findings_thresholds
        on {{ finding_id("pairs", "run_values") }} = findings_thresholds.finding_id
    inner join tolerances
        on
            tolerances.measure in (run_values.measure, '*')
            and tolerances.audit in (pairs.audit, '*')
            and tolerances.attribute in (run_values.attribute, '*')
    qualify
        row_number() over (
            partition by run_values.pair_key, findings_thresholds.finding_id, run_values.member
            order by tolerances.measure <> '*' desc, tolerances.audit <> '*' desc, tolerances.attribute <> '*' desc
        ) = 1
),

-- Gaps are compared on the cases that both runs share, if these are enough. Which way is worse: up, down, or away from
-- nought. Otherwise the arms of a difference are those of both values together (Zou & Donner 2008); a size without
-- direction takes the longer one of each. The size of a gap changes by no more than the gap does, so that the paired
-- interval of the gap's difference is long enough for either.
directed as (
    select
        *,
        coalesce(n_shared >= min_units or not is_same_question, false) as is_paired,
        if(is_paired, shared_value, value) as compared_value,
        if(is_paired, shared_baseline_value, baseline_value) as compared_baseline,
        value - baseline_value as unpaired_difference,
        sqrt(pow(arm_low, 2) + pow(baseline_arm_high, 2)) as unpaired_arm_low,
        sqrt(pow(arm_high, 2) + pow(baseline_arm_low, 2)) as unpaired_arm_high,
        compared_value - compared_baseline as difference,
        if(is_paired, shared_half_width, unpaired_arm_low) as difference_arm_low,
        if(is_paired, shared_half_width, unpaired_arm_high) as difference_arm_high,
        case side
            when 'upper' then difference
            when 'lower' then -difference
            else abs(compared_value) - abs(compared_baseline)
        end as worsening,
        case
            when side = 'upper' or is_paired then difference_arm_low
            when side = 'lower' then difference_arm_high
            else sqrt(pow(greatest(arm_low, arm_high), 2) + pow(greatest(baseline_arm_low, baseline_arm_high), 2))
        end as worsening_arm_low,
        case side
            when 'upper' then difference_arm_high
            when 'lower' then difference_arm_low
            else worsening_arm_low
        end as worsening_arm_high,
        coalesce(if(is_paired, n_shared, least(n_units, baseline_n_units)), 0) < min_units
        or coalesce(worsening_arm_low, 0) <= 0
        or coalesce(worsening_arm_high, 0) <= 0 as is_insufficient
    from tolerated
),

deviates as (
    select
        *,
        {{ change_deviate("difference", "if(difference > 0, difference_arm_low, difference_arm_high)") }}
            as difference_deviate,
        {{ change_deviate("worsening", "if(worsening > 0, worsening_arm_low, worsening_arm_high)") }} as deviate,
        {{ change_deviate("greatest(worsening - tolerance, 0)", "worsening_arm_low") }} as deviate_worse,
        {{ change_deviate("greatest(-worsening - tolerance, 0)", "worsening_arm_high") }} as deviate_better,
        if(is_paired, shared_error, greatest(worsening_arm_low, worsening_arm_high) / 1.959964) as standard_error
    from directed
),

tested as (
    select
        *,
        {{ two_sided_normal_p("difference_deviate") }} as p_difference,
        {{ two_sided_normal_p("deviate") }} as p_value,
        -- "Worse" is one question and "better" another, each with its own 5 %: one-sided.
        {{ two_sided_normal_p("deviate_worse") }} / 2 as p_worse,
        {{ two_sided_normal_p("deviate_better") }} / 2 as p_better,
        -- A member with unknown error rules out nothing.
        coalesce(worsening_arm_low > 0 and worsening_arm_high > 0, false)
        and worsening - worsening_arm_low > -tolerance
        and worsening + worsening_arm_high < tolerance as is_member_unchanged
    from deviates
),

families as (
    select
        *,
        greatest(1, count(*) filter (where not is_insufficient) over family) as n_members,
        bool_and(is_member_unchanged) over family as is_unchanged
    from tested
    window family as (partition by pair_key, finding_id)
),

-- The member with the most certain change represents a family: its p is adjusted for all members (Bonferroni), its
-- intervals hold for all at once, and the family is unchanged only if every member is. Its error is its own.
strongest_members as (
    select
        * replace (
            least(1, p_value * n_members) as p_value,
            least(1, p_difference * n_members) as p_difference,
            least(1, p_worse * n_members) as p_worse,
            least(1, p_better * n_members) as p_better
        ),
        not is_insufficient as is_tested,
        if(n_members = 1, 1, {{ upper_normal_quantile("(0.025 / n_members)") }} / 1.959964) as widened
    from families
    qualify
        row_number() over (
            partition by pair_key, finding_id
            order by is_insufficient asc, least(p_worse, p_better) asc, abs(deviate) desc, member asc
        ) = 1
),

gatekept_worse as (
    {{ gatekept_holm("strongest_members", "p_worse", ["pair_key", "severity"]) }}
),

gatekept_better as (
    {{ gatekept_holm("strongest_members", "p_better", ["pair_key", "severity"]) }}
),

adjusted as (
    select
        strongest_members.*,
        gatekept_worse.p_value_adjusted as p_worse_adjusted,
        gatekept_better.p_value_adjusted as p_better_adjusted
    from strongest_members
    left join gatekept_worse
        on
            strongest_members.pair_key = gatekept_worse.pair_key
            and strongest_members.finding_id = gatekept_worse.finding_id
    left join gatekept_better
        on
            strongest_members.pair_key = gatekept_better.pair_key
            and strongest_members.finding_id = gatekept_better.finding_id
),

judged as (
    select
        *,
        case
            when is_insufficient then 'insufficient_data'
            when p_worse_adjusted < alpha then 'worse'
            when p_better_adjusted < alpha then 'better'
            when is_unchanged then 'unchanged'
            else 'inconclusive'
        end as verdict,
        -- The verdict uses the distance from 0 in either direction. A reversed bias needs one value on each side of 0
        -- with its own interval: a change beyond chance may also end or start at 0.
        coalesce(
            side = 'two-sided'
            and not is_insufficient
            and (
                (
                    baseline_value + baseline_arm_high * widened < 0
                    and value - arm_low * widened > 0
                )
                or (
                    baseline_value - baseline_arm_low * widened > 0
                    and value + arm_high * widened < 0
                )
            ),
            false
        ) as is_reversed
    from adjusted
)

select * from judged
