with

blocks as (
    select distinct
        block_key,
        run_id,
        variant,
        attribute,
        group_name,
        label
    from {{ ref("int_decisions_blocks") }}
),

block_attributes as (
    select distinct
        block_key,
        run_id,
        variant,
        attribute
    from blocks
),

tests as (
    select *
    from {{ ref("int_decisions_paired_tests") }}
),

paired_tests as (
    select
        cast(block_attributes.run_id as varchar) as run_id,
        cast(block_attributes.variant as varchar) as variant,
        cast(block_attributes.attribute as varchar) as attribute,
        cast(tests.test as varchar) as test,
        cast(coalesce(blocks.group_name, '(all)') as varchar) as group_name,
        cast(coalesce(reference_groups.group_name, '(all)') as varchar) as reference_group,
        {{ double_or_null("tests.statistic") }} as statistic,
        {{ double_or_null("tests.p_value") }} as p_value,
        cast(tests.n_blocks as bigint) as n_subjects,
        cast(tests.n_discordant as bigint) as n_discordant
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
)

select * from paired_tests
