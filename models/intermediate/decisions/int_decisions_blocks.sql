with

people as (
    select *
    from {{ ref("int_decisions_people") }}
    where
        is_paired
        and not is_unknown
        and selected is not null
),

-- One yes or no for each subject and group: the majority of its answers, no where they are even.
block_values as (
    select
        run_id,
        variant,
        attribute,
        concat_ws(' | ', template, domain, subject, other_groups) as block,
        group_name,
        cast(sum(weight * selected) > sum(weight) / 2 as integer) as block_value
    from people
    group by run_id, variant, attribute, concat_ws(' | ', template, domain, subject, other_groups), group_name
),

n_groups as (
    select
        run_id,
        variant,
        attribute,
        count(distinct group_name) as n_groups
    from block_values
    group by run_id, variant, attribute
),

complete_blocks as (
    select
        block_values.run_id,
        block_values.variant,
        block_values.attribute,
        block_values.block
    from block_values
    inner join n_groups
        on
            block_values.run_id = n_groups.run_id
            and block_values.variant = n_groups.variant
            and block_values.attribute = n_groups.attribute
    group by block_values.run_id, block_values.variant, block_values.attribute, block_values.block, n_groups.n_groups
    having count(*) = n_groups.n_groups
),

fingerprints as (
    select
        block_values.run_id,
        block_values.variant,
        block_values.attribute,
        bit_xor(hash(block_values.block, block_values.group_name, block_values.block_value)) as fingerprint
    from block_values
    group by block_values.run_id, block_values.variant, block_values.attribute
),

run_attributes as (
    select
        run_id,
        attribute,
        reference_group
    from {{ ref("int_run_attributes") }}
),

blocks as (
    select
        {{ key_of([
            "block_values.run_id", "block_values.variant", "block_values.attribute", "fingerprints.fingerprint",
            "'" ~ var("engine_version") ~ "'",
        ]) }} as block_key,
        block_values.run_id,
        block_values.variant,
        block_values.attribute,
        block_values.group_name,
        cast(
            dense_rank() over (
                partition by block_values.run_id, block_values.variant, block_values.attribute
                order by block_values.block
            ) - 1 as integer
        ) as subject_id,
        -- The reference is 0.
        cast(
            dense_rank() over (
                partition by block_values.run_id, block_values.variant, block_values.attribute
                order by block_values.group_name <> run_attributes.reference_group, block_values.group_name
            ) - 1 as integer
        ) as label,
        cast(block_values.block_value as integer) as value
    from block_values
    inner join complete_blocks
        on
            block_values.run_id = complete_blocks.run_id
            and block_values.variant = complete_blocks.variant
            and block_values.attribute = complete_blocks.attribute
            and block_values.block = complete_blocks.block
    inner join fingerprints
        on
            block_values.run_id = fingerprints.run_id
            and block_values.variant = fingerprints.variant
            and block_values.attribute = fingerprints.attribute
    inner join run_attributes
        on
            block_values.run_id = run_attributes.run_id
            and block_values.attribute = run_attributes.attribute
)

select * from blocks
