with

pairs as (
    select *
    from {{ ref("int_run_pairs") }}
    where incomparable_because is null
),

comparable as (
    select findings.*
    from {{ ref("int_findings_comparable") }} as findings
    inner join {{ ref("dim_measures") }} as measures on findings.measure = measures.measure
    where not measures.is_at_equal_sizes
),

equal_sizes as (
    {% for method in methods(with_output="equal_sizes") %}
        select * from {{ ref("int_" ~ method ~ "_equal_sizes") }}
        union all by name
    {% endfor %}
    -- If no method has such an output, no measure depends on sizes.
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

settings as (
    select
        pairs.pair_key,
        'baseline' as side,
        comparable.*
    from pairs
    inner join comparable
        on
            pairs.baseline_run_id = comparable.run_id
            and pairs.baseline_mitigation = comparable.mitigation
    union all by name
    select
        pairs.pair_key,
        'run' as side,
        comparable.*
    from pairs
    inner join comparable
        on
            pairs.run_id = comparable.run_id
            and pairs.mitigation = comparable.mitigation
    union all by name
    select
        *,
        '' as member
    from equal_sizes
),

-- The change of a gap on what both runs share.
gap_changes as (
    select *
    from {{ ref("int_gap_changes") }}
),

members as (
    select
        pair_key,
        measure,
        scheme,
        attribute,
        group_name,
        reference_group,
        subject,
        member,
        bool_or(side = 'baseline') as is_in_baseline,
        bool_or(side = 'run') as is_in_run,
        any_value(value) filter (where side = 'baseline') as baseline_value,
        any_value(arm_low) filter (where side = 'baseline') as baseline_arm_low,
        any_value(arm_high) filter (where side = 'baseline') as baseline_arm_high,
        any_value(n_units) filter (where side = 'baseline') as baseline_n_units,
        any_value(value) filter (where side = 'run') as value,
        any_value(arm_low) filter (where side = 'run') as arm_low,
        any_value(arm_high) filter (where side = 'run') as arm_high,
        any_value(n_units) filter (where side = 'run') as n_units
    from settings
    group by pair_key, measure, scheme, attribute, group_name, reference_group, subject, member
),

-- A measure that only one run has is not compared. A category, price level or list that is missing in one of the runs
-- is compared, though only the other's family has it.
families as (
    select
        * replace (
            max(baseline_n_units) over family as baseline_n_units,
            max(n_units) over family as n_units
        )
    from members
    window family as (partition by pair_key, measure, scheme, attribute, group_name, reference_group, subject)
    qualify bool_or(is_in_baseline) over family and bool_or(is_in_run) over family
),

-- It went to no group rather than to another, and reads 0. How far off that may be nobody has measured: as far as the
-- other run's value, and farther from fewer units.
one_sided as (
    select
        *,
        if(is_in_run, greatest(arm_low, arm_high), greatest(baseline_arm_low, baseline_arm_high))
        * sqrt(greatest(1, if(is_in_run, n_units / baseline_n_units, baseline_n_units / n_units))) as lent_arm
    from families
),

completed as (
    select
        * exclude (is_in_baseline, is_in_run, lent_arm)
        replace (
            if(is_in_baseline, baseline_value, 0) as baseline_value,
            if(is_in_baseline, baseline_arm_low, lent_arm) as baseline_arm_low,
            if(is_in_baseline, baseline_arm_high, lent_arm) as baseline_arm_high,
            if(is_in_run, value, 0) as value,
            if(is_in_run, arm_low, lent_arm) as arm_low,
            if(is_in_run, arm_high, lent_arm) as arm_high
        )
    from one_sided
),

sides as (
    select
        pair_key,
        unnest([baseline_run_id, run_id]) as side_run_id
    from pairs
    where baseline_run_id <> run_id
),

-- Groups that one run alone has, or that are worded otherwise in the other.
unshared_groups as (
    select
        sides.pair_key,
        run_groups.attribute,
        run_groups.group_name,
        count(*) = 2 as is_redefined
    from sides
    inner join {{ ref("int_run_groups") }} as run_groups on sides.side_run_id = run_groups.run_id
    group by sides.pair_key, run_groups.attribute, run_groups.group_name
    having count(*) = 1 or count(distinct run_groups.definition_hash) = 2
),

-- Findings of such groups, or of all groups at once. Measures at equal sizes are measured on the groups of both.
unshared_findings as (
    select distinct
        completed.pair_key,
        completed.measure,
        completed.attribute,
        completed.group_name,
        completed.reference_group
    from completed
    inner join {{ ref("dim_measures") }} as measures on completed.measure = measures.measure
    inner join unshared_groups
        on
            completed.pair_key = unshared_groups.pair_key
            and (
                coalesce(completed.attribute, '') = ''
                or left(completed.attribute, 1) = '('
                or list_contains(string_split(completed.attribute, '*'), unshared_groups.attribute)
            )
    where
        list_contains(string_split(completed.group_name, '*'), unshared_groups.group_name)
        or list_contains(string_split(completed.reference_group, '*'), unshared_groups.group_name)
        or (
            (
                coalesce(completed.group_name, '') = ''
                or left(completed.group_name, 1) = '('
                or (left(completed.reference_group, 1) = '(' and completed.reference_group <> '(neutral)')
            )
            and (not measures.is_at_equal_sizes or unshared_groups.is_redefined)
        )
),

run_values as (
    select
        completed.*,
        gap_changes.shared_baseline_value,
        gap_changes.shared_value,
        gap_changes.shared_error,
        gap_changes.shared_degrees,
        gap_changes.shared_half_width,
        gap_changes.n_shared,
        gap_changes.n_left_out,
        gap_changes.by,
        pairs.is_same_question and unshared_findings.pair_key is null as is_same_question
    from completed
    inner join pairs on completed.pair_key = pairs.pair_key
    left join gap_changes
        on
            completed.pair_key = gap_changes.pair_key
            and completed.measure = gap_changes.measure
            and completed.scheme = gap_changes.scheme
            and completed.attribute = gap_changes.attribute
            and completed.group_name = gap_changes.group_name
            and completed.reference_group = gap_changes.reference_group
            and completed.subject = gap_changes.subject
            and completed.member = ''
    left join unshared_findings
        on
            completed.pair_key = unshared_findings.pair_key
            and completed.measure = unshared_findings.measure
            and completed.attribute is not distinct from unshared_findings.attribute
            and completed.group_name is not distinct from unshared_findings.group_name
            and completed.reference_group is not distinct from unshared_findings.reference_group
    where
        -- Nothing refused before or after is nothing to compare.
        (completed.measure <> 'answer_gap' or completed.baseline_value <> 0 or completed.value <> 0)
        -- Runs that were asked different questions are compared on those that they share.
        and (
            (pairs.is_same_question and unshared_findings.pair_key is null)
            or gap_changes.pair_key is not null
        )
)

select * from run_values
