with

build as (
    select
        cast('{{ invocation_id }}' as varchar) as build_id,
        cast('{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as timestamp) as built_at,
        cast('{{ dbt_version }}' as varchar) as dbt_version,
        cast('{{ var("engine_version") }}' as varchar) as engine_version,
        cast({{ var("alpha") }} as double) as alpha,
        cast({{ var("permutations") }} as boolean) as permutations,
        cast({{ var("min_permutations") }} as integer) as min_permutations,
        cast({{ var("all_groups") }} as boolean) as all_groups,
        cast({{ var("seed") }} as bigint) as seed,
        cast('{{ var("today") or run_started_at.strftime("%Y-%m-%d") }}' as date) as judged_on
)

select * from build
