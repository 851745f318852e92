{{ config(materialized="by_run") }}

with

comparisons as (
    select
        run_id,
        comparison_key,
        pool_key,
        outcome,
        groups_compared
    from {{ run_rows("int_decisions_comparisons") }}
),

units as (
    select *
    from {{ run_rows("int_decisions_units") }}
),

members as (
    select
        comparisons.run_id,
        comparisons.comparison_key,
        {{ code_in_comparison("units.stratum, units.person_name nulls first, units.unit") }} as unit_id,
        list_position(comparisons.groups_compared, units.group_name) - 1 as label,
        {{ code_in_comparison("units.stratum") }} as stratum_id,
        {{ code_in_comparison("units.cluster") }} as cluster_id,
        {{ code_in_comparison("units.stratum, units.unit") }} as whole_id,
        -- Names are only used if all are known.
        if(
            count(units.person_name) over (partition by comparisons.comparison_key)
            = count(*) over (partition by comparisons.comparison_key),
            {{ code_in_comparison("units.person_name, units.group_name") }},
            null
        ) as name_id,
        {{ code_in_comparison("coalesce(units.name_stratum, '')") }} as name_stratum_id,
        units.n_candidates,
        units.n,
        units.total,
        units.n_unread,
        units.unread_lowest,
        units.unread_highest
    from comparisons
    inner join units
        on
            comparisons.pool_key = units.pool_key
            and comparisons.outcome = units.outcome
            and list_contains(comparisons.groups_compared, units.group_name)
)

select * from members
