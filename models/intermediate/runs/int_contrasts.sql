with

prompt_groups as (
    select distinct
        run_id,
        mitigation,
        attribute,
        group_name
    from {{ ref("int_prompt_groups") }}
),

run_attributes as (
    select
        run_id,
        attribute,
        reference_group,
        is_crossed
    from {{ ref("int_run_attributes") }}
),

run_analysis_settings as (
    select
        run_id,
        cast(analysis ->> 'pairwise' as boolean) as has_pairwise
    from {{ ref("int_run_analysis_settings") }}
),

groups_to_compare as (
    select
        prompt_groups.run_id,
        prompt_groups.mitigation,
        prompt_groups.attribute,
        prompt_groups.group_name,
        run_attributes.reference_group,
        run_attributes.is_crossed,
        run_analysis_settings.has_pairwise
    from prompt_groups
    inner join run_attributes
        on
            prompt_groups.run_id = run_attributes.run_id
            and prompt_groups.attribute = run_attributes.attribute
    inner join run_analysis_settings on prompt_groups.run_id = run_analysis_settings.run_id
),

against_reference as (
    select
        run_id,
        mitigation,
        attribute,
        'against_reference' as comparison,
        group_name,
        reference_group,
        is_crossed
    from groups_to_compare
    where group_name <> reference_group
),

-- Exploratory: every pair of marked groups, the alphabetically first as the reference.
pairwise as (
    select
        marked.run_id,
        marked.mitigation,
        marked.attribute,
        'pairwise' as comparison,
        marked.group_name,
        other.group_name as reference_group,
        marked.is_crossed
    from groups_to_compare as marked
    inner join groups_to_compare as other
        on
            marked.run_id = other.run_id
            and marked.mitigation = other.mitigation
            and marked.attribute = other.attribute
            and marked.group_name > other.group_name
    where
        marked.has_pairwise
        and marked.reference_group not in (marked.group_name, other.group_name)
),

-- All groups of an attribute at once; group_name and reference_group are then '(all)'.
all_groups as (
    select distinct
        run_id,
        mitigation,
        attribute,
        'all_groups' as comparison,
        '(all)' as group_name,
        '(all)' as reference_group,
        is_crossed
    from groups_to_compare
),

contrasts as (
    select * from against_reference
    union all by name
    select * from pairwise
    union all by name
    select * from all_groups
)

select
    {{ contrast_id() }} as contrast_id,
    *
from contrasts
