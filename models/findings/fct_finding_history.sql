{#- Kept through --full-refresh; after the private work file was deleted it goes on from what was published last. -#}
{{ config(
    materialized="incremental",
    incremental_strategy="append",
    full_refresh=false,
    on_schema_change="append_new_columns",
) }}
-- depends_on: {{ ref("stg_ledger__retracted_runs") }}
{%- set published = published_relation("fct_finding_history") if not is_incremental() %}

with

-- fct_builds first: a build that is not recorded there must not be referred to here.
builds as (
    select
        build_id,
        engine_version,
        settings_hash,
        built_at
    from {{ ref("fct_builds") }}
    where build_id = '{{ invocation_id }}'
),

findings as (
    select *
    from {{ ref("fct_findings") }}
),

{% if published %}
    -- Figures of a run that was taken back, as one imported by a wrong spec, were never any: they go here, too.
    retracted as (
        select run_id
        from {{ ref("stg_ledger__retracted_runs") }}
    ),
{% endif %}

known as (
    {% if is_incremental() %}
        select * from {{ this }}
    {% elif published %}
        select * from {{ published }}
        where run_id not in (select retracted.run_id from retracted)
    {% else %}
        select
            cast(null as varchar) as finding_id,
            cast(null as varchar) as content_hash,
            cast(null as boolean) as is_removed,
            cast(null as timestamp) as built_at
        where false
    {% endif %}
),

latest as (
    select *
    from known
    qualify row_number() over (partition by finding_id order by built_at desc) = 1
),

judged as (
    select
        findings.finding_id,
        {{ key_of([
            "findings.status", "findings.severity", "findings.spec_hash", "findings.analysis_hash",
            "findings.threshold_hash", "findings.engine_version", text_of_number("findings.value"),
            text_of_number("findings.threshold"), text_of_number("findings.p_value"),
            text_of_number("findings.p_value_adjusted"), text_of_number("findings.interval_low"),
            text_of_number("findings.interval_high"), "findings.n_units", "findings.is_excepted",
        ]) }} as content_hash,
        findings.run_id,
        findings.mitigation,
        findings.audit,
        findings.target,
        findings.measure,
        findings.scheme,
        findings.attribute,
        findings.group_name,
        findings.reference_group,
        findings.subject,
        findings.status,
        findings.severity,
        findings.spec_hash,
        findings.analysis_hash,
        findings.threshold_hash,
        findings.value,
        findings.threshold,
        findings.p_value,
        findings.p_value_adjusted,
        findings.interval_low,
        findings.interval_high,
        findings.n_units,
        findings.is_excepted,
        false as is_removed
    from findings
),

-- The sentence that explains a finding may quote words of answers, which may be erased some day: it is not kept here.
-- A verdict is written when it is new or another than at the last build; what no build changed is not written again.
changed as (
    select judged.*
    from judged
    left join latest on judged.finding_id = latest.finding_id
    where
        latest.finding_id is null
        or latest.is_removed
        or latest.content_hash is distinct from judged.content_hash
),

{% if is_incremental() or published %}
    removed as (
        select latest.* replace (true as is_removed)
        from latest
        left join judged on latest.finding_id = judged.finding_id
        where
            judged.finding_id is null
            and not latest.is_removed
    ),

{% endif %}
new_rows as (
    select
        builds.build_id,
        builds.engine_version,
        builds.settings_hash,
        builds.built_at,
        changed.*
    from changed
    cross join builds
    {% if is_incremental() or published %}
        union all by name
        select
            removed.* replace (
                builds.build_id as build_id,
                builds.engine_version as engine_version,
                builds.settings_hash as settings_hash,
                builds.built_at as built_at
            )
        from removed
        cross join builds
    {% endif %}
    {% if published %}
        union all by name
        select * from {{ published }}
        where run_id not in (select retracted.run_id from retracted)
    {% endif %}
),

history as (
    select
        cast(finding_id as varchar) as finding_id,
        cast(build_id as varchar) as build_id,
        cast(content_hash as varchar) as content_hash,
        cast(run_id as varchar) as run_id,
        cast(mitigation as varchar) as mitigation,
        cast(audit as varchar) as audit,
        cast(target as varchar) as target,
        cast(measure as varchar) as measure,
        cast(scheme as varchar) as scheme,
        cast(attribute as varchar) as attribute,
        cast(group_name as varchar) as group_name,
        cast(reference_group as varchar) as reference_group,
        cast(subject as varchar) as subject,
        cast(status as varchar) as status,
        cast(severity as varchar) as severity,
        cast(spec_hash as varchar) as spec_hash,
        cast(analysis_hash as varchar) as analysis_hash,
        cast(threshold_hash as varchar) as threshold_hash,
        cast(engine_version as varchar) as engine_version,
        cast(settings_hash as varchar) as settings_hash,
        cast(value as double) as value,
        cast(threshold as double) as threshold,
        cast(p_value as double) as p_value,
        cast(p_value_adjusted as double) as p_value_adjusted,
        cast(interval_low as double) as interval_low,
        cast(interval_high as double) as interval_high,
        cast(n_units as bigint) as n_units,
        cast(is_excepted as boolean) as is_excepted,
        cast(is_removed as boolean) as is_removed,
        cast(built_at as timestamp) as built_at
    from new_rows
)

select * from history
