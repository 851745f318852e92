{{ config(materialized="by_run") }}

with

units as (
    select *
    from {{ run_rows("int_decisions_units") }}
    where outcome in ('selected', 'selected_of_asked')
),

counted as (
    select
        pool_key,
        run_id,
        mitigation,
        outcome,
        domain,
        attribute,
        group_name,
        sum(n) as n_people,
        sum(total) as n_selected,
        sum(n + n_unread) as n_asked,
        bool_and(n = floor(n) and total = floor(total)) as is_whole
    from units
    group by pool_key, run_id, mitigation, outcome, domain, attribute, group_name
    having sum(n) > 0
),

shared as (
    select
        *,
        -- Share of those asked about: a group with unreadable answers is not a small one.
        n_asked / sum(n_asked) over (partition by pool_key, outcome) as share_of_people,
        bool_and(is_whole) over (partition by pool_key, outcome) as are_whole,
        -- Unknown groups take no part in ratios.
        {{ is_unknown_group("group_name") }} as is_unknown_group
    from counted
),

categories as (
    select
        pool_key,
        run_id,
        mitigation,
        outcome,
        domain,
        attribute,
        group_name,
        n_people,
        n_selected,
        share_of_people,
        case
            when is_unknown_group then 'the group is unknown'
            -- An import refuses such weights, but older ledgers may hold them.
            when not are_whole then 'answers have weights that are no whole numbers'
            when share_of_people < 0.02 then 'less than 2 % of the sample'
        end as excluded_reason
    from shared
)

select * from categories
