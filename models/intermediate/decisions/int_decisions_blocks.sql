{{ config(materialized="by_run") }}

with

people as (
    select *
    from {{ run_rows("int_decisions_people") }}
    where
        is_paired
        and not is_unknown
        and selected is not null
),

run_attributes as (
    select
        run_id,
        attribute,
        reference_group
    from {{ ref("int_run_attributes") }}
),

-- One yes or no for each subject and group: the majority of its answers, no where they are even.
block_values as (
    select
        pool_key,
        run_id,
        mitigation,
        attribute,
        stratum as block,
        group_name,
        cast(sum(weight * selected) > sum(weight) / 2 as integer) as block_value
    from people
    group by pool_key, run_id, mitigation, attribute, stratum, group_name
),

counted as (
    select
        *,
        count(*) over (partition by pool_key, block) as n_in_block,
        count(distinct group_name) over pool as n_groups
    from block_values
    window pool as (partition by pool_key)
),

complete_blocks as (
    select
        cast(counted.pool_key as varchar) as block_key,
        counted.run_id,
        counted.mitigation,
        counted.attribute,
        counted.group_name,
        cast(
            dense_rank() over (partition by counted.pool_key order by counted.block) - 1 as integer
        ) as subject_id,
        -- The reference is 0.
        cast(
            dense_rank() over (
                partition by counted.pool_key
                order by counted.group_name <> run_attributes.reference_group, counted.group_name
            ) - 1 as integer
        ) as label,
        counted.block_value as value
    from counted
    inner join run_attributes
        on
            counted.run_id = run_attributes.run_id
            and counted.attribute = run_attributes.attribute
    where counted.n_in_block = counted.n_groups
)

select * from complete_blocks
