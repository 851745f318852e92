{{ config(materialized="by_run") }}

with

units as (
    select *
    from {{ run_rows("int_decisions_units") }}
    where outcome in ('selected', 'selected_of_asked')
),

runs as (
    select
        run_id,
        smallest_share,
        round(100 * smallest_share, 3) as smallest_percentage
    from {{ ref("int_decisions_runs") }}
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
        shared.pool_key,
        shared.run_id,
        shared.mitigation,
        shared.outcome,
        shared.domain,
        shared.attribute,
        shared.group_name,
        shared.n_people,
        shared.n_selected,
        shared.share_of_people,
        case
            when shared.is_unknown_group then 'the group is unknown'
            -- An import refuses such weights, but older ledgers may hold them.
            when not shared.are_whole then 'answers have weights that are no whole numbers'
            when shared.share_of_people < runs.smallest_share
                then
                    'less than '
                    || if(
                        runs.smallest_percentage = floor(runs.smallest_percentage),
                        cast(cast(runs.smallest_percentage as integer) as varchar),
                        cast(runs.smallest_percentage as varchar)
                    )
                    || ' % of the sample'
        end as excluded_reason
    from shared
    inner join runs on shared.run_id = runs.run_id
)

select * from categories
