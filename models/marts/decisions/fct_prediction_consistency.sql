with

people as (
    select *
    from {{ ref("int_decisions_people") }}
    where is_paired
),

run_attributes as (
    select
        run_id,
        attribute,
        len(components) as n_components
    from {{ ref("int_run_attributes") }}
),

-- Versions of a subject are told apart by all that its people state at once.
widest_attributes as (
    select
        people.run_id,
        first(
            people.attribute order by run_attributes.n_components desc, people.attribute asc
        ) as attribute
    from people
    inner join run_attributes
        on
            people.run_id = run_attributes.run_id
            and people.attribute = run_attributes.attribute
    group by people.run_id
),

versions as (
    select
        people.run_id,
        people.variant,
        people.template,
        people.domain,
        people.subject,
        concat_ws('; ', people.other_groups, people.group_name) as version,
        people.carrier,
        coalesce(people.label, cast(people.score as varchar)) as prediction,
        people.standing,
        people.is_unknown
    from people
    inner join widest_attributes
        on
            people.run_id = widest_attributes.run_id
            and people.attribute = widest_attributes.attribute
),

n_versions as (
    select
        run_id,
        variant,
        count(distinct version) as n_groups
    from versions
    group by run_id, variant
),

consistency as (
    select
        cast(versions.run_id as varchar) as run_id,
        cast(versions.variant as varchar) as variant,
        cast(versions.template as varchar) as template,
        cast(versions.domain as varchar) as domain,
        cast(versions.subject as varchar) as subject,
        cast(count(*) as integer) as n_predictions,
        cast(count(*) filter (where versions.is_unknown) as integer) as n_unknown,
        cast(count(distinct versions.prediction) as integer) as n_distinct_predictions,
        cast(min(versions.standing) as double) as lowest_standing,
        cast(max(versions.standing) as double) as highest_standing,
        -- The source counts a subject as inconsistent only if all its versions were read, and divides by all subjects.
        cast(
            count(distinct versions.version) filter (where not versions.is_unknown)
            = any_value(n_versions.n_groups) as boolean
        ) as is_complete,
        -- One answer agrees with nothing.
        cast(
            case
                when count(*) filter (where not versions.is_unknown) > 1
                    then count(distinct versions.prediction) = 1
            end as boolean
        ) as is_consistent
    from versions
    inner join n_versions
        on
            versions.run_id = n_versions.run_id
            and versions.variant = n_versions.variant
    group by versions.run_id, versions.variant, versions.template, versions.domain, versions.subject
)

select * from consistency
