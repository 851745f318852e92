{{ config(materialized="view") }}

with

comparisons as (
    select
        comparison_key,
        pool_key,
        outcome,
        group_name,
        reference_group
    from {{ ref("int_decisions_comparisons") }}
),

impact_comparisons as (
    select
        comparison_key,
        pool_key,
        outcome
    from {{ ref("int_decisions_impact_comparisons") }}
),

impact_members as (
    select distinct
        comparison_key,
        group_name
    from {{ ref("int_decisions_impact_members") }}
),

asked_groups as (
    select
        pool_key,
        outcome,
        group_name,
        sum(n) as n_read,
        cast(sum(n_unread) as bigint) as n_unread
    from {{ ref("int_decisions_units") }}
    group by pool_key, outcome, group_name
),

-- Answers that no rule reads, by group. A group that is no small part of a pool and has no other answers is missing
-- from the impact ratio, and could be selected at any rate.
unread_groups as (
    select
        *,
        n_read = 0
        and (n_read + n_unread) / sum(n_read + n_unread) over (partition by pool_key, outcome) >= 0.02
        and not {{ is_unknown_group("group_name") }} as is_missing,
        printf('%s %d', group_name, n_unread) as counted
    from asked_groups
    qualify n_unread > 0
),

unread_contrasts as (
    select
        comparisons.comparison_key,
        sum(unread_groups.n_unread) as n_unread,
        false as is_group_missing,
        string_agg(unread_groups.counted, ', ' order by unread_groups.n_unread desc, unread_groups.group_name asc)
            as unread_by_group
    from comparisons
    inner join unread_groups
        on
            comparisons.pool_key = unread_groups.pool_key
            and comparisons.outcome = unread_groups.outcome
            and unread_groups.group_name in (comparisons.group_name, comparisons.reference_group)
    group by comparisons.comparison_key
),

unread_attributes as (
    select
        impact_comparisons.comparison_key,
        sum(unread_groups.n_unread) as n_unread,
        bool_or(unread_groups.is_missing) as is_group_missing,
        string_agg(unread_groups.counted, ', ' order by unread_groups.n_unread desc, unread_groups.group_name asc)
            as unread_by_group
    from impact_comparisons
    inner join unread_groups
        on
            impact_comparisons.pool_key = unread_groups.pool_key
            and impact_comparisons.outcome = unread_groups.outcome
    left join impact_members as members
        on
            impact_comparisons.comparison_key = members.comparison_key
            and unread_groups.group_name = members.group_name
    where members.group_name is not null or unread_groups.is_missing
    group by impact_comparisons.comparison_key
),

unread as (
    select * from unread_contrasts
    union all by name
    select * from unread_attributes
)

select * from unread
