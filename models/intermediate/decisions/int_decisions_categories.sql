with

units as (
    select *
    from {{ ref("int_decisions_units") }}
    where outcome = 'selected'
),

counted as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        sum(n) as n_people,
        sum(total) as n_selected
    from units
    group by run_id, variant, domain, attribute, group_name
),

shared as (
    select
        *,
        n_people / sum(n_people) over (partition by run_id, variant, domain, attribute) as share_of_people,
        -- Whose group nobody knows stands for no group.
        {{ is_unknown_group("group_name") }} as is_unknown_group
    from counted
),

categories as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        n_people,
        n_selected,
        share_of_people,
        case
            when is_unknown_group then 'the group is unknown'
            when share_of_people < 0.02 then 'less than 2 % of the sample'
        end as excluded_reason
    from shared
)

select * from categories
