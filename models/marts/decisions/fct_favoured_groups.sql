with

decision_rates as (
    select
        run_id,
        variant,
        domain,
        attribute,
        group_name,
        -- Means of the same numbers summed in another order may differ in their last digits, and are a tie.
        round(mean_standing, 9) as mean_standing
    from {{ ref("fct_decision_rates") }}
    where mean_standing is not null
),

extremes as (
    select
        *,
        max(mean_standing) over (partition by run_id, variant, domain, attribute) as highest_standing,
        min(mean_standing) over (partition by run_id, variant, domain, attribute) as lowest_standing
    from decision_rates
),

favoured_groups as (
    select
        run_id,
        variant,
        domain,
        attribute,
        string_agg(group_name, ' = ' order by group_name) filter (where mean_standing = highest_standing)
            as most_favoured,
        string_agg(group_name, ' = ' order by group_name) filter (where mean_standing = lowest_standing)
            as least_favoured,
        any_value(highest_standing) as highest_standing,
        any_value(lowest_standing) as lowest_standing,
        count(*) filter (where mean_standing = highest_standing) > 1
        or count(*) filter (where mean_standing = lowest_standing) > 1 as has_ties
    from extremes
    group by run_id, variant, domain, attribute
)

{{ contracted("favoured_groups") }}
