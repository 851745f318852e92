with

positions as (
    select *
    from {{ ref("int_decisions_positions") }}
),

tests as (
    select *
    from {{ ref("int_decisions_position_tests") }}
),

counted as (
    select
        position_key,
        run_id,
        mitigation,
        slot as position,
        sum(weight) as n,
        sum(weight * is_top) / sum(weight) as share_top,
        sum(weight * rank) / sum(weight) filter (where rank is not null) as mean_rank
    from positions
    group by position_key, run_id, mitigation, slot
),

position_bias as (
    select
        cast(counted.run_id as varchar) as run_id,
        cast(counted.mitigation as varchar) as mitigation,
        cast(counted.position as integer) as position,
        cast(counted.n as bigint) as n_people,
        cast(counted.share_top as double) as share_top,
        cast(counted.mean_rank as double) as mean_rank,
        cast(tests.share_first as double) as share_first,
        cast(tests.expected_share as double) as expected_share,
        {{ double_or_null("tests.interval_low") }} as interval_low,
        {{ double_or_null("tests.interval_high") }} as interval_high,
        {{ double_or_null("tests.p_first") }} as first_p_value,
        {{ double_or_null("tests.p_value") }} as chi_square_p_value,
        cast(tests.n_responses as bigint) as n_responses,
        cast(tests.n_sets as bigint) as n_sets
    from counted
    inner join tests on counted.position_key = tests.position_key
)

select * from position_bias
