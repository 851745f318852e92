{{ config(materialized="by_run") }}

with

people as (
    select *
    from {{ run_rows("int_decisions_people") }}
    where is_paired
),

run_attributes as (
    select
        run_id,
        attribute,
        len(components) as n_components
    from {{ ref("int_run_attributes") }}
),

-- Versions of a subject are distinguished by all that its people state at once.
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
        people.mitigation,
        people.template,
        people.domain,
        people.subject,
        concat_ws('; ', people.other_groups, people.group_name) as version,
        people.descriptor,
        coalesce(people.label, cast(people.score as varchar)) as prediction,
        people.rank_value,
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
        mitigation,
        count(distinct version) as n_groups
    from versions
    group by run_id, mitigation
),

prediction_consistency as (
    select
        versions.run_id,
        versions.mitigation,
        versions.template,
        versions.domain,
        versions.subject,
        count(*) as n_predictions,
        count(*) filter (where versions.is_unknown) as n_unknown,
        count(distinct versions.prediction) as n_distinct_predictions,
        min(versions.rank_value) as lowest_rank_value,
        max(versions.rank_value) as highest_rank_value,
        -- The source counts a subject as inconsistent only if all its versions were read, and divides by all subjects.
        count(distinct versions.version) filter (where not versions.is_unknown)
        = any_value(n_versions.n_groups) as is_complete,
        -- One answer agrees with nothing.
        case
            when count(*) filter (where not versions.is_unknown) > 1
                then count(distinct versions.prediction) = 1
        end as is_consistent
    from versions
    inner join n_versions
        on
            versions.run_id = n_versions.run_id
            and versions.mitigation = n_versions.mitigation
    group by versions.run_id, versions.mitigation, versions.template, versions.domain, versions.subject
)

{{ contracted("prediction_consistency") }}
