with

findings as (
    select
        finding_id,
        run_id,
        attribute,
        group_name,
        reference_group,
        scope,
        groups_compared
    from {{ ref("int_findings_measured") }}
),

group_descriptors as (
    select *
    from {{ ref("int_group_descriptors") }}
),

-- The scope of a contrast depends on its two groups, that of a whole attribute on the groups it names, or else on all
-- known ones.
joined as (
    select
        findings.finding_id,
        findings.scope,
        -- People whom the audit does not name speak for their group as names do.
        if(
            group_descriptors.is_named,
            group_descriptors.n_descriptors,
            coalesce(group_descriptors.n_people, group_descriptors.n_descriptors)
        ) as n_descriptors,
        group_descriptors.is_named or group_descriptors.n_people is not null as is_named,
        coalesce(
            list_contains(findings.groups_compared, group_descriptors.group_name),
            group_descriptors.group_name in (findings.group_name, findings.reference_group)
        ) as is_compared,
        {{ is_unknown_group("group_descriptors.group_name") }} as is_unknown
    from findings
    left join group_descriptors
        on
            findings.run_id = group_descriptors.run_id
            and findings.attribute = group_descriptors.attribute
),

counted as (
    select
        finding_id,
        any_value(scope) as stated_scope,
        bool_or(is_named) as is_named,
        coalesce(
            min(n_descriptors) filter (where is_compared), min(n_descriptors) filter (where not is_unknown)
        ) as n_descriptors
    from joined
    group by finding_id
),

findings_scopes as (
    select
        finding_id,
        n_descriptors,
        coalesce(
            stated_scope,
            case
                when n_descriptors is null then 'questions'
                when n_descriptors >= {{ descriptors_of_a_group() }} then 'group'
                when is_named then 'names'
                else 'wording'
            end
        ) as scope
    from counted
)

select * from findings_scopes
