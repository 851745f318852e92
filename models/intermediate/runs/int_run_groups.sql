with

specs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
    union all
    select
        run_id,
        manifest -> 'spec' as spec
    from {{ ref("stg_ledger__baselines") }}
    where
        file_hash is not null
        and run_id not in (select runs.run_id from {{ ref("stg_ledger__runs") }} as runs)
),

attributes as (
    select
        run_id,
        unnest(
            from_json(spec -> 'attributes', '[{"attribute": "VARCHAR", "groups": ["JSON"]}]'), recursive := false
        ) as declared
    from specs
),

declared_groups as (
    select
        run_id,
        declared.attribute,
        unnest(declared.groups) as definition
    from attributes
),

run_groups as (
    select
        run_id,
        attribute,
        definition ->> 'group' as group_name,
        md5(string_agg(cast(definition as varchar), chr(31) order by cast(definition as varchar))) as definition_hash
    from declared_groups
    group by all
)

select * from run_groups
