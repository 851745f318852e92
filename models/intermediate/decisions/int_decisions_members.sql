with

comparisons as (
    select
        comparison_key,
        run_id,
        variant,
        outcome,
        domain,
        attribute,
        group_name,
        reference_group
    from {{ ref("int_decisions_comparisons") }}
),

units as (
    select *
    from {{ ref("int_decisions_units") }}
),

members as (
    select
        comparisons.comparison_key,
        -- Codes follow the content of a run, so that its numbers do not depend on what else the ledger holds.
        cast(
            dense_rank() over (
                partition by comparisons.comparison_key
                order by units.unit, units.stratum, units.person_name nulls first
            ) - 1 as integer
        ) as unit_id,
        cast(units.group_name = comparisons.group_name as tinyint) as label,
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
            and units.group_name in (comparisons.group_name, comparisons.reference_group)
)

select * from members
