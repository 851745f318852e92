{#- Kept through --full-refresh; after the private work file was deleted it goes on from what was published last. -#}
{{ config(
    materialized="incremental",
    incremental_strategy="append",
    full_refresh=false,
    on_schema_change="append_new_columns",
) }}
{%- set published = published_relation("fct_builds") if not is_incremental() %}

with

findings as (
    select
        run_id,
        status,
        is_current
    from {{ ref("fct_findings") }}
),

thresholds as (
    select *
    from {{ ref("thresholds") }}
),

exceptions as (
    select *
    from {{ ref("exceptions") }}
),

tolerances as (
    select *
    from {{ ref("tolerances") }}
),

output_thresholds as (
    select *
    from {{ ref("output_thresholds") }}
),

settings as (
    select cast(to_json(thresholds) as varchar) as setting
    from thresholds
    union all
    select cast(to_json(exceptions) as varchar) as setting
    from exceptions
    union all
    select cast(to_json(tolerances) as varchar) as setting
    from tolerances
    union all
    select cast(to_json(output_thresholds) as varchar) as setting
    from output_thresholds
),

hashed_settings as (
    select 'md5:' || md5(string_agg(setting, chr(10) order by setting)) as settings_hash
    from settings
),

counted_findings as (
    select
        count(*) as n_findings,
        count(distinct run_id) as n_runs,
        count(*) filter (where status = 'alarm' and is_current) as n_alarms
    from findings
),

this_build as (
    select
        cast('{{ invocation_id }}' as varchar) as build_id,
        cast('{{ var("engine_version") }}' as varchar) as engine_version,
        cast(hashed_settings.settings_hash as varchar) as settings_hash,
        cast('{{ dbt_version }}' as varchar) as dbt_version,
        cast({{ number_of("alpha") }} as double) as alpha,
        cast({{ truth_of("permutations") }} as boolean) as permutations,
        cast({{ number_of("min_permutations") }} as integer) as min_permutations,
        cast({{ truth_of("all_groups") }} as boolean) as all_groups,
        cast({{ number_of("seed") }} as bigint) as seed,
        cast({{ judged_on() }} as date) as judged_on,
        cast(counted_findings.n_findings as bigint) as n_findings,
        cast(counted_findings.n_runs as bigint) as n_runs,
        cast(counted_findings.n_alarms as bigint) as n_alarms,
        cast({{ build_moment() }} as timestamp) as built_at
    from counted_findings
    cross join hashed_settings
),

builds as (
    select * from this_build
    {% if published %}
        union all by name
        select * from {{ published }}
    {% endif %}
)

select
    build_id,
    engine_version,
    settings_hash,
    dbt_version,
    alpha,
    permutations,
    min_permutations,
    all_groups,
    seed,
    judged_on,
    n_findings,
    n_runs,
    n_alarms,
    built_at
from builds
