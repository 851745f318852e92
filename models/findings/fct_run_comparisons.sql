with

pairs as (
    select *
    from {{ ref("int_run_pairs") }}
    where incomparable_because is null
),

comparable as (
    select *
    from {{ ref("int_findings_comparable") }}
    where measure not in {{ size_dependent_measures() }}
),

equal_sizes as (
    {% for room in ("words", "lists", "decisions", "prices")
        if room in env_var("BIASLEDGER_ROOMS", "words lists decisions prices markers").split() %}
        select * from {{ ref("int_" ~ room ~ "_equal_sizes") }}
        union all by name
    {% endfor %}
    -- A ledger of markers alone has no measure that depends on sizes.
    select
        pair_key,
        '' as side,
        '' as measure,
        '' as scheme,
        '' as attribute,
        '' as group_name,
        '' as reference_group,
        '' as subject,
        cast(null as double) as value,
        cast(null as double) as arm_low,
        cast(null as double) as arm_high,
        cast(null as bigint) as n_units
    from pairs
    where false
),

measures as (
    select
        measure,
        side
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

live_exceptions as (
    select *
    from {{ ref("int_findings_exceptions") }}
),

as_measured as (
    select
        pairs.pair_key,
        after.measure,
        after.scheme,
        after.attribute,
        after.group_name,
        after.reference_group,
        after.subject,
        after.member,
        before.value as baseline_value,
        before.arm_low as baseline_arm_low,
        before.arm_high as baseline_arm_high,
        before.n_units as baseline_n_units,
        after.value,
        after.arm_low,
        after.arm_high,
        after.n_units
    from pairs
    inner join comparable as before
        on
            pairs.baseline_run_id = before.run_id
            and pairs.baseline_variant = before.variant
    inner join comparable as after
        on
            pairs.run_id = after.run_id
            and pairs.variant = after.variant
            and before.measure = after.measure
            and before.scheme = after.scheme
            and before.attribute = after.attribute
            and before.group_name = after.group_name
            and before.reference_group = after.reference_group
            and before.subject = after.subject
            and before.member = after.member
),

at_equal_sizes as (
    select
        after.pair_key,
        after.measure,
        after.scheme,
        after.attribute,
        after.group_name,
        after.reference_group,
        after.subject,
        '' as member,
        before.value as baseline_value,
        before.arm_low as baseline_arm_low,
        before.arm_high as baseline_arm_high,
        before.n_units as baseline_n_units,
        after.value,
        after.arm_low,
        after.arm_high,
        after.n_units
    from equal_sizes as before
    inner join equal_sizes as after
        on
            before.pair_key = after.pair_key
            and before.side = 'baseline'
            and after.side = 'run'
            and before.measure = after.measure
            and before.scheme = after.scheme
            and before.attribute = after.attribute
            and before.group_name = after.group_name
            and before.reference_group = after.reference_group
            and before.subject = after.subject
),

compared as (
    select * from as_measured
    union all by name
    select * from at_equal_sizes
),

-- The most specific tolerance wins: one that names the measure, then the audit, then the attribute.
tolerated as (
    select
        compared.*,
        pairs.baseline_run_id,
        pairs.run_id,
        pairs.baseline_variant,
        pairs.variant,
        pairs.audit,
        pairs.baseline_target,
        pairs.target,
        pairs.is_baseline,
        pairs.is_previous,
        pairs.is_imported,
        pairs.is_current,
        measures.side,
        findings_thresholds.severity,
        findings_thresholds.alpha,
        findings_thresholds.min_units,
        tolerances.tolerance
    from compared
    inner join pairs on compared.pair_key = pairs.pair_key
    inner join measures on compared.measure = measures.measure
    inner join findings_thresholds
        on
            pairs.run_id = findings_thresholds.run_id
            and pairs.variant = findings_thresholds.variant
            and compared.measure = findings_thresholds.measure
            and compared.scheme = findings_thresholds.scheme
            and compared.attribute = findings_thresholds.attribute
            and compared.group_name = findings_thresholds.group_name
            and compared.reference_group = findings_thresholds.reference_group
            and compared.subject = findings_thresholds.subject
    inner join tolerances
        on
            tolerances.measure in (compared.measure, '*')
            and tolerances.audit in (pairs.audit, '*')
            and tolerances.attribute in (compared.attribute, '*')
    qualify
        row_number() over (
            partition by
                compared.pair_key, compared.measure, compared.scheme, compared.attribute, compared.group_name,
                compared.reference_group, compared.subject, compared.member
            order by tolerances.measure <> '*' desc, tolerances.audit <> '*' desc, tolerances.attribute <> '*' desc
        ) = 1
),

-- Which way is worse: up, down, or away from nought. The arms of a difference are those of both values together
-- (Zou & Donner 2008); a size without direction takes the longer one of each.
directed as (
    select
        *,
        value - baseline_value as difference,
        case side
            when 'upper' then value - baseline_value
            when 'lower' then baseline_value - value
            else abs(value) - abs(baseline_value)
        end as worsening,
        case side
            when 'upper' then sqrt(pow(arm_low, 2) + pow(baseline_arm_high, 2))
            when 'lower' then sqrt(pow(arm_high, 2) + pow(baseline_arm_low, 2))
            else sqrt(pow(greatest(arm_low, arm_high), 2) + pow(greatest(baseline_arm_low, baseline_arm_high), 2))
        end as worsening_arm_low,
        case side
            when 'upper' then sqrt(pow(arm_high, 2) + pow(baseline_arm_low, 2))
            when 'lower' then sqrt(pow(arm_low, 2) + pow(baseline_arm_high, 2))
            else worsening_arm_low
        end as worsening_arm_high,
        coalesce(least(n_units, baseline_n_units), 0) < min_units
        or coalesce(worsening_arm_low, 0) <= 0
        or coalesce(worsening_arm_high, 0) <= 0 as is_insufficient
    from tolerated
),

deviates as (
    select
        *,
        1.959964 * worsening / if(worsening > 0, worsening_arm_low, worsening_arm_high) as deviate,
        1.959964 * greatest(worsening - tolerance, 0) / worsening_arm_low as deviate_worse,
        1.959964 * greatest(-worsening - tolerance, 0) / worsening_arm_high as deviate_better
    from directed
),

tested as (
    select
        *,
        {{ two_sided_normal_p("deviate") }} as p_value,
        {{ two_sided_normal_p("deviate_worse") }} as p_worse,
        {{ two_sided_normal_p("deviate_better") }} as p_better,
        worsening - worsening_arm_low > -tolerance
        and worsening + worsening_arm_high < tolerance as is_member_unchanged
    from deviates
),

families as (
    select
        *,
        count(*) over family as n_members,
        bool_and(is_member_unchanged) over family as is_unchanged,
        if(
            count(*) over family = 1, 1, {{ upper_normal_quantile("(0.025 / (count(*) over family))") }} / 1.959964
        ) as widened
    from tested
    window
        family as (
            partition by pair_key, measure, scheme, attribute, group_name, reference_group, subject, is_insufficient
        )
),

-- Of a family the member speaks whose change is most certain: its p answers for all of them (Bonferroni), its interval
-- holds for all of them at once, and nothing has changed only where no member has.
strongest_members as (
    select
        * exclude (p_value, p_worse, p_better, worsening_arm_low, worsening_arm_high),
        least(1, p_value * n_members) as p_value,
        least(1, p_worse * n_members) as p_worse,
        least(1, p_better * n_members) as p_better,
        worsening_arm_low * widened as worsening_arm_low,
        worsening_arm_high * widened as worsening_arm_high
    from families
    qualify
        row_number() over (
            partition by pair_key, measure, scheme, attribute, group_name, reference_group, subject
            order by is_insufficient asc, least(p_worse, p_better) asc, abs(deviate) desc, member asc
        ) = 1
),

-- Holm's step-down over all that is compared in a pair and can fail the same test.
holm_steps as (
    select
        *,
        {{ holm_step("p_worse", "pair_key, severity, is_insufficient") }} as worse_step,
        {{ holm_step("p_better", "pair_key, severity, is_insufficient") }} as better_step
    from strongest_members
),

adjusted as (
    select
        *,
        {{ holm_adjusted("worse_step", "p_worse", "pair_key, severity, is_insufficient") }} as p_worse_adjusted,
        {{ holm_adjusted("better_step", "p_better", "pair_key, severity, is_insufficient") }} as p_better_adjusted
    from holm_steps
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
        end as verdict
    from adjusted
),

excepted as (
    select
        judged.*,
        judged.verdict = 'worse' and exists (
            select 1
            from live_exceptions
            where
                live_exceptions.audit = judged.audit
                and live_exceptions.target in (judged.target, '*')
                and live_exceptions.measure = judged.measure
                and live_exceptions.attribute = judged.attribute
                and live_exceptions.group_name = judged.group_name
                and live_exceptions.subject in (judged.subject, '*')
        ) as is_excepted
    from judged
),

run_comparisons as (
    select
        cast(pair_key as varchar) as pair_key,
        cast(baseline_run_id as varchar) as baseline_run_id,
        cast(run_id as varchar) as run_id,
        cast(baseline_variant as varchar) as baseline_variant,
        cast(variant as varchar) as variant,
        cast(audit as varchar) as audit,
        cast(baseline_target as varchar) as baseline_target,
        cast(target as varchar) as target,
        cast(measure as varchar) as measure,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(subject as varchar) as subject,
        cast(member as varchar) as member,
        cast(verdict as varchar) as verdict,
        cast(severity as varchar) as severity,
        cast(baseline_value as double) as baseline_value,
        cast(value as double) as value,
        cast(difference as double) as difference,
        cast(worsening as double) as worsening,
        cast(worsening - worsening_arm_low as double) as interval_low,
        cast(worsening + worsening_arm_high as double) as interval_high,
        cast(greatest(worsening_arm_low, worsening_arm_high) / 1.959964 as double) as standard_error,
        cast(p_value as double) as p_value,
        cast(tolerance as double) as tolerance,
        cast(
            case when worsening > 0 then p_worse_adjusted else p_better_adjusted end as double
        ) as p_value_adjusted,
        cast(alpha as double) as alpha,
        cast(baseline_n_units as bigint) as baseline_n_units,
        cast(n_units as bigint) as n_units,
        cast(measure in {{ size_dependent_measures() }} as boolean) as is_at_equal_sizes,
        cast(is_excepted as boolean) as is_excepted,
        cast(is_baseline as boolean) as is_baseline,
        cast(is_previous as boolean) as is_previous,
        cast(is_imported as boolean) as is_imported,
        cast(is_current as boolean) as is_current
    from excepted
)

select * from run_comparisons
