{#- Kept through --full-refresh; after the private work file was deleted it goes on from what was published last. -#}
{{ config(materialized="incremental", incremental_strategy="append", full_refresh=false, on_schema_change="append_new_columns") }}
{%- set published = published_relation("fct_builds") if not is_incremental() %}

with

findings as (
    select
        run_id,
        status,
        is_current
    from {{ ref("fct_findings") }}
),

settings as (
    select cast(thresholds as varchar) as setting from {{ ref("thresholds") }} as thresholds
    union all
    select cast(exceptions as varchar) as setting from {{ ref("exceptions") }} as exceptions
    union all
    select cast(tolerances as varchar) as setting from {{ ref("tolerances") }} as tolerances
),

this_build as (
    select
        cast('{{ invocation_id }}' as varchar) as build_id,
        cast('{{ var("engine_version") }}' as varchar) as engine_version,
        cast(
            (
                select 'md5:' || md5(string_agg(setting, chr(10) order by setting))
                from settings
            ) as varchar
        ) as settings_hash,
        cast('{{ dbt_version }}' as varchar) as dbt_version,
        cast({{ var("alpha") }} as double) as alpha,
        cast({{ var("permutations") }} as boolean) as permutations,
        cast({{ var("min_permutations") }} as integer) as min_permutations,
        cast({{ var("all_groups") }} as boolean) as all_groups,
        cast({{ var("seed") }} as bigint) as seed,
        cast({{ "'" ~ var("today") ~ "'" if var("today") else "current_date" }} as date) as judged_on,
        cast(count(*) as bigint) as n_findings,
        cast(count(distinct run_id) as bigint) as n_runs,
        cast(count(*) filter (where status = 'alarm' and is_current) as bigint) as n_alarms,
        cast({{ build_moment() }} as timestamp) as built_at
    from findings
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
