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
        pool_key,
        group_name,
        label,
        sum(weight) as n
    from people
    group by pool_key, group_name, label
),

groups as (
    select
        pool_key,
        run_id,
        mitigation,
        judged_domain as domain,
        attribute,
        group_name,
        sum(weight) as n
    from people
    group by pool_key, run_id, mitigation, judged_domain, attribute, group_name
),

-- A label that no member of a group got has a row, too.
decision_labels as (
    select
        groups.*,
        decisions_runs.label,
        decisions_runs.label_position,
        coalesce(counted.n, 0) as n_people,
        coalesce(counted.n, 0) / groups.n as share
    from groups
    inner join decisions_runs on groups.run_id = decisions_runs.run_id
    left join counted
        on
            groups.pool_key = counted.pool_key
            and groups.group_name = counted.group_name
            and decisions_runs.label = counted.label
)

{{ contracted("decision_labels") }}
