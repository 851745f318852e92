with

runs as (
    select
        run_id,
        spec
    from {{ ref("stg_ledger__runs") }}
),

run_analysis_settings as (
    select
        run_id,
        analysis
    from {{ ref("int_run_analysis_settings") }}
),

asked_attributes as (
    select
        run_id,
        unnest(from_json(spec -> 'attributes', '[{"attribute": "VARCHAR", "reference": "VARCHAR"}]')) as asked
    from runs
),

plain_attributes as (
    select
        run_id,
        asked.attribute,
        asked.reference as reference_group,
        [asked.attribute] as components,
        'plain' as kind
    from asked_attributes
),

crossings as (
    select
        run_id,
        unnest(from_json(analysis -> 'crossed', '[["VARCHAR"]]')) as components
    from run_analysis_settings
),

crossing_components as (
    select
        run_id,
        components,
        unnest(components) as component,
        generate_subscripts(components, 1) as component_position
    from crossings
),

crossed_attributes as (
    select
        crossing_components.run_id,
        array_to_string(crossing_components.components, '*') as attribute,
        -- An intersection has a reference where all of its attributes have one.
        if(
            count(plain_attributes.reference_group) = count(*),
            string_agg(plain_attributes.reference_group, '*' order by crossing_components.component_position),
            null
        ) as reference_group,
        crossing_components.components,
        'crossed' as kind
    from crossing_components
    inner join plain_attributes
        on
            crossing_components.run_id = plain_attributes.run_id
            and crossing_components.component = plain_attributes.attribute
    group by crossing_components.run_id, crossing_components.components
    having count(*) = len(crossing_components.components)
),

-- Whether two attributes of a prompt name the same group: a brother and his boyfriend, a brother and his girlfriend.
same_attributes as (
    select
        run_id,
        unnest(json_keys(analysis -> 'same')) as attribute,
        'different' as reference_group,
        from_json(json_extract(analysis, '$.same."' || attribute || '"'), '["VARCHAR"]') as components,
        'same' as kind
    from run_analysis_settings
    where json_exists(analysis, '$.same')
),

run_attributes as (
    select * from plain_attributes
    union all by name
    select * from crossed_attributes
    union all by name
    select * from same_attributes
)

select
    *,
    kind = 'crossed' as is_crossed
from run_attributes
