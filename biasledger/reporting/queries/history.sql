-- How many findings each of the last thirty builds gave each status; what a build did not change stands as it was.
with

builds as (
    select
        build_id,
        built_at,
        row_number() over (order by built_at, build_id) as build_number
    from marts.fct_builds
    qualify row_number() over (order by built_at desc, build_id desc) <= 30
),

versions as (
    select
        finding_id,
        status,
        is_removed,
        built_at
    from marts.fct_finding_history
    where
        list_contains($run_ids, run_id)
        and mitigation = 'plain'
),

at_build as (
    select
        builds.build_number,
        builds.built_at,
        versions.status,
        versions.is_removed
    from builds
    inner join versions on builds.built_at >= versions.built_at
    qualify
        row_number() over (
            partition by builds.build_id, versions.finding_id order by versions.built_at desc
        ) = 1
)

select
    build_number,
    strftime(at_build.built_at, '%Y-%m-%d %H:%M') as built_at,
    status,
    count(*) as n_findings
from at_build
where not is_removed
group by build_number, at_build.built_at, status
order by
    build_number, list_position(['alarm', 'inconclusive', 'clear', 'insufficient_data'], status)
