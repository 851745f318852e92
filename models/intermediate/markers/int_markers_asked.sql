with

contrasts as (
    select * exclude (comparison)
    from {{ ref("int_contrasts") }}
),

markers_prompts as (
    select *
    from {{ ref("int_markers_prompts") }}
),

categories as (
    select distinct
        run_id,
        prompt_id,
        category,
        has_stereotype_markers,
        has_anti_markers
    from {{ ref("int_markers_texts") }}
),

groups as (
    select
        markers_prompts.contrast_id,
        categories.category,
        markers_prompts.is_marked,
        {{ missing_side("categories") }} as missing_side
    from markers_prompts
    inner join categories
        on
            markers_prompts.run_id = categories.run_id
            and markers_prompts.prompt_id = categories.prompt_id
    group by markers_prompts.contrast_id, categories.category, markers_prompts.is_marked
),

-- Questions about both groups, whether or not any answer could be assessed.
asked as (
    select
        contrasts.*,
        groups.category,
        coalesce(max(groups.missing_side) filter (where groups.is_marked), max(groups.missing_side)) as missing_side
    from groups
    inner join contrasts on groups.contrast_id = contrasts.contrast_id
    group by all
    having count(*) = 2
)

select * from asked
