with

people as (
    select *
    from {{ ref("int_decisions_people") }}
    where label is not null
),

decisions_runs as (
    select
        run_id,
        unnest(labels) as label,
        generate_subscripts(labels, 1) as label_position
    from {{ ref("int_decisions_runs") }}
),

counted as (
    select
        run_id,
        variant,
        judged_domain as domain,
        attribute,
        group_name,
        label,
        sum(weight) as n
    from people
    group by run_id, variant, judged_domain, attribute, group_name, label
),

groups as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        sum(n) as n_people
    from counted
    group by run_id, variant, domain, attribute, group_name
),

-- A label that nobody of a group got has its row, too.
label_shares as (
    select
        cast(groups.run_id as varchar) as run_id,
        cast(groups.variant as varchar) as variant,
        cast(groups.domain as varchar) as domain,
        cast(groups.attribute as varchar) as attribute,
        cast(groups.group_name as varchar) as group_name,
        cast(decisions_runs.label as varchar) as label,
        cast(decisions_runs.label_position as integer) as label_position,
        cast(coalesce(counted.n, 0) as bigint) as n_people,
        cast(coalesce(counted.n, 0) / groups.n_people as double) as share
    from groups
    inner join decisions_runs on groups.run_id = decisions_runs.run_id
    left join counted
        on
            groups.run_id = counted.run_id
            and groups.variant = counted.variant
            and groups.domain = counted.domain
            and groups.attribute = counted.attribute
            and groups.group_name = counted.group_name
            and decisions_runs.label = counted.label
)

select * from label_shares
