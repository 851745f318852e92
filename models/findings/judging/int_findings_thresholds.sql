with

findings as (
    select
        finding_id,
        contrast_id,
        run_id,
        mitigation,
        measure,
        scheme,
        subject,
        attribute,
        group_name,
        reference_group,
        value,
        is_crossed
    from {{ ref("int_findings_measured") }}
),

scopes as (
    select *
    from {{ ref("int_findings_scopes") }}
),

controls as (
    select *
    from {{ ref("fct_wording_controls") }}
),

-- The larger of what two wordings of either group differ by; of a whole attribute, of any group.
wording_controls as (
    select
        findings.finding_id,
        max(controls.value) as wording_control
    from findings
    inner join controls
        on
            findings.run_id = controls.run_id
            and findings.mitigation = controls.mitigation
            and findings.measure = controls.measure
            and findings.scheme = controls.scheme
            and findings.subject = controls.subject
            and findings.attribute = controls.attribute
            and (
                findings.group_name = '(all)'
                or controls.group_name in (findings.group_name, findings.reference_group)
            )
    group by findings.finding_id
),

-- With fewer than five wordings a difference must exceed those between wordings of one group.
held as (
    select
        findings.*,
        scopes.scope,
        scopes.n_descriptors,
        wording_controls.wording_control,
        coalesce(scopes.scope = 'wording' and abs(findings.value) <= wording_controls.wording_control, false)
            as is_within_wordings
    from findings
    inner join scopes on findings.finding_id = scopes.finding_id
    left join wording_controls on findings.finding_id = wording_controls.finding_id
),

restating as (
    select
        measure,
        unnest(string_split(restates, ' ')) as restated
    from {{ ref("dim_measures") }}
    where restates <> ''
),

-- A restatement has no control of its own and takes that of the measure that it restates.
restatements as (
    select
        held.finding_id,
        bool_and(primaries.is_within_wordings) as is_within_wordings
    from held
    inner join restating on held.measure = restating.measure
    inner join held as primaries
        on
            restating.restated = primaries.measure
            and held.run_id = primaries.run_id
            and held.mitigation = primaries.mitigation
            and held.attribute = primaries.attribute
            and held.subject = primaries.subject
            and (
                held.group_name = '(all)'
                or (
                    held.group_name = primaries.group_name
                    and held.reference_group = primaries.reference_group
                )
            )
    where held.wording_control is null
    group by held.finding_id
),

runs as (
    select
        run_id,
        audit
    from {{ ref("stg_ledger__runs") }}
),

thresholds as (
    select *
    from {{ ref("thresholds") }}
),

-- The most specific row wins: one that names the audit, then one that names the attribute, then one for intersections.
specific_thresholds as (
    select
        findings.finding_id,
        findings.contrast_id,
        thresholds.audit as threshold_audit,
        thresholds.attribute as threshold_attribute,
        thresholds.threshold,
        coalesce(thresholds.clear_threshold, thresholds.threshold) as clear_threshold,
        thresholds.published_threshold,
        thresholds.alpha,
        thresholds.min_units,
        findings.scope,
        findings.n_descriptors,
        findings.wording_control,
        coalesce(restatements.is_within_wordings, findings.is_within_wordings) as is_within_wordings,
        -- A mitigation that does not help is worth a warning; the audit itself is what fails.
        if(thresholds.severity = 'error' and findings.mitigation <> 'plain', 'warn', thresholds.severity)
            as full_severity,
        {{ key_of([
            "thresholds.measure", "thresholds.audit", "thresholds.attribute", "thresholds.threshold",
            "thresholds.clear_threshold", "thresholds.alpha", "thresholds.min_units", "thresholds.severity",
        ]) }} as threshold_hash
    from held as findings
    inner join runs on findings.run_id = runs.run_id
    left join restatements on findings.finding_id = restatements.finding_id
    inner join thresholds
        on
            findings.measure = thresholds.measure
            and thresholds.audit in (runs.audit, '*')
            and (
                thresholds.attribute in (findings.attribute, '*')
                or (thresholds.attribute = '(crossed)' and findings.is_crossed)
            )
    qualify
        row_number() over (
            partition by findings.finding_id
            order by
                thresholds.audit = runs.audit desc,
                thresholds.attribute = findings.attribute desc,
                thresholds.attribute = '(crossed)' desc
        ) = 1
),

-- Findings on a few names or wordings are warnings at most. Those that would else be errors are adjusted by
-- themselves.
findings_thresholds as (
    select
        *,
        if(full_severity = 'error' and {{ is_narrow_scope("scope") }}, 'warn', full_severity) as severity
    from specific_thresholds
)

select * from findings_thresholds
