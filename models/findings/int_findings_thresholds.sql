{{ config(schema="intermediate", access="private", contract={"enforced": false}) }}

with

findings as (
    select
        finding_id,
        contrast_id,
        run_id,
        mitigation,
        measure,
        attribute,
        is_crossed
    from {{ ref("int_findings_measured") }}
),

scopes as (
    select *
    from {{ ref("int_findings_scopes") }}
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
findings_thresholds as (
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
        scopes.scope,
        scopes.n_descriptors,
        -- A mitigation that does not help is worth a warning; the audit itself is what fails.
        if(thresholds.severity = 'error' and findings.mitigation <> 'plain', 'warn', thresholds.severity)
            as full_severity,
        {{ key_of([
            "thresholds.measure", "thresholds.audit", "thresholds.attribute", "thresholds.threshold",
            "thresholds.clear_threshold", "thresholds.alpha", "thresholds.min_units", "thresholds.severity",
        ]) }} as threshold_hash
    from findings
    inner join runs on findings.run_id = runs.run_id
    inner join scopes on findings.finding_id = scopes.finding_id
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
)

-- What rests on a few names or wordings is a warning at most, and is still adjusted with those of its full severity.
select
    *,
    if(full_severity = 'error' and {{ is_narrow_scope("scope") }}, 'warn', full_severity) as severity
from findings_thresholds
