with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        outcome,
        domain,
        attribute
    from {{ ref("int_decisions_impact_comparisons") }}
),

categories as (
    select *
    from {{ ref("int_decisions_categories") }}
    where excluded_reason is null
),

units as (
    select *
    from {{ ref("int_decisions_units") }}
    where outcome in ('selected', 'selected_of_asked')
),

members as (
    select
        comparisons.comparison_key,
        units.group_name,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key
                order by units.unit, units.stratum, units.person_name nulls first
            ) - 1 as integer
        ) as unit_id,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.group_name) - 1 as integer
        ) as label,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.stratum) - 1 as integer
        ) as stratum_id,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.cluster) - 1 as integer
        ) as cluster_id,
        cast(
            dense_rank() over (partition by comparisons.comparison_key order by units.unit, units.stratum)
            - 1 as integer
        ) as whole_id,
        -- Nobody's name says anything where somebody's is not known.
        if(
            count(units.person_name) over (partition by comparisons.comparison_key)
            = count(*) over (partition by comparisons.comparison_key),
            cast(
                dense_rank() over (
                    partition by comparisons.comparison_key order by units.group_name, units.person_name
                ) - 1 as integer
            ),
            null
        ) as name_id,
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key order by coalesce(units.name_stratum, '')
            ) - 1 as integer
        ) as name_stratum_id,
        units.n_candidates,
        units.n,
        units.total
    from comparisons
    inner join units
        on
            comparisons.run_id = units.run_id
            and comparisons.variant = units.variant
            and comparisons.outcome = units.outcome
            and comparisons.domain = units.domain
            and comparisons.attribute = units.attribute
    inner join categories
        on
            units.run_id = categories.run_id
            and units.variant = categories.variant
            and units.outcome = categories.outcome
            and units.domain = categories.domain
            and units.attribute = categories.attribute
            and units.group_name = categories.group_name
)

select * from members
