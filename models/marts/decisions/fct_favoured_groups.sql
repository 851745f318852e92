with

decision_rates as (
    select
        run_id,
        mitigation,
        domain,
        attribute,
        group_name,
        -- Means of the same numbers summed in another order may differ in their last digits, and are a tie.
        round(mean_rank_value, 9) as mean_rank_value
    from {{ ref("fct_decision_rates") }}
    where mean_rank_value is not null
),

extremes as (
    select
        *,
        max(mean_rank_value) over (partition by run_id, mitigation, domain, attribute) as highest_rank_value,
        min(mean_rank_value) over (partition by run_id, mitigation, domain, attribute) as lowest_rank_value
    from decision_rates
),

favoured_groups as (
    select
        run_id,
        mitigation,
        domain,
        attribute,
        string_agg(group_name, ' = ' order by group_name) filter (where mean_rank_value = highest_rank_value)
            as most_favoured,
        string_agg(group_name, ' = ' order by group_name) filter (where mean_rank_value = lowest_rank_value)
            as least_favoured,
        any_value(highest_rank_value) as highest_rank_value,
        any_value(lowest_rank_value) as lowest_rank_value,
        count(*) filter (where mean_rank_value = highest_rank_value) > 1
        or count(*) filter (where mean_rank_value = lowest_rank_value) > 1 as has_ties
    from extremes
    group by run_id, mitigation, domain, attribute
)

{{ contracted("favoured_groups") }}
