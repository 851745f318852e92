with

blocks as (
    select distinct
        block_key,
        run_id,
        mitigation,
        attribute,
        group_name,
        label
    from {{ ref("int_decisions_blocks") }}
),

block_attributes as (
    select distinct
        block_key,
        run_id,
        mitigation,
        attribute
    from blocks
),

tests as (
    select *
    from {{ ref("int_decisions_paired_tests") }}
),

named as (
    select
        block_attributes.*,
        tests.*,
        tests.n_blocks as n_subjects,
        coalesce(blocks.group_name, '(all)') as group_name,
        coalesce(reference_groups.group_name, '(all)') as reference_group
    from tests
    inner join block_attributes on tests.block_key = block_attributes.block_key
    left join blocks
        on
            tests.block_key = blocks.block_key
            and tests.label = blocks.label
    left join blocks as reference_groups
        on
            tests.block_key = reference_groups.block_key
            and reference_groups.label = 0
            and blocks.group_name is not null
),

paired_tests as (
    select
        *,
        {{ contrast_id() }} as contrast_id
    from named
)

{{ contracted("paired_tests") }}
