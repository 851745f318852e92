{{ config(materialized="by_run") }}

with

prompts as (
    select distinct
        run_id,
        prompt_id,
        markers_hash,
        category,
        probe,
        groups
    from {{ run_rows("int_markers_texts") }}
    where markers_hash is not null
),

directed_markers as (
    select distinct
        markers_hash,
        probe,
        category,
        group_name,
        direction
    from {{ ref("stg_ledger__markers") }}
    where direction is not null
),

sides as (
    select
        prompts.run_id,
        prompts.prompt_id,
        coalesce(bool_or(directed_markers.direction = 'stereotype'), false) as has_stereotype,
        coalesce(bool_or(directed_markers.direction = 'anti'), false) as has_anti,
        has_stereotype and has_anti as has_both
    from prompts
    left join directed_markers
        on
            prompts.markers_hash = directed_markers.markers_hash
            and {{ marker_applies("directed_markers", "prompts") }}
            -- The direction of some markers holds for answers about one group only.
            and (
                directed_markers.group_name is null
                or list_contains(prompts.groups, directed_markers.group_name)
            )
    group by prompts.run_id, prompts.prompt_id
)

select * from sides
